@tool
class_name Player
extends Node2D

signal died(score)

enum State { IDLE, RUN }

const SPEED = 3
@export var health: int = 10

## Called first: 形.
func _ready() -> void:
	var inner = func(): return 1
	inner.call()

static func make(a, b := 1):
	return [a, b]

class Weapon extends Resource:
	var power = 1

	func hit(target):
		target.health -= power

func _init(start = 0):
	health = start
