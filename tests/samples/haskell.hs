{-# LANGUAGE GADTs #-}

-- | Shapes: 形.
module Shapes (Shape (..), total) where

import Data.List (sortBy)
import qualified Data.Map as Map

-- | A shape.
data Shape
  = Circle Double
  | Square { side :: Double }
  deriving (Show, Eq)

newtype Wrapper a = Wrapper { unwrap :: a }

type Table k = Map.Map k [k]

-- | What has an area.
class HasArea a where
  -- | In m².
  area :: a -> Double
  area _ = 0

  scaled :: Double -> a -> a

instance HasArea Shape where
  area (Circle r) = pi * r * r
  area (Square s) = s * s
  scaled _ shape = shape

-- | All of them.
total :: [Shape] -> Double
total [] = 0
-- The others.
total (x : xs) = area x + rest
  where
    rest = total xs

answer :: Int
answer = 42

(<+>) :: Shape -> Shape -> Shape
a <+> _ = a

x `plus` _ = x

pattern Unit :: Shape
pattern Unit = Circle 1

type family Elem c where
  Elem [e] = e
