local json = require("json")
local M = {}

-- Adds: 形.
function M.add(a, b)
  local function inner() end
  return a + b
end

function M:grow(by)
  self.size = self.size + by
end

local function helper(x)
  return x
end

function global_one() end

-- Multiplies.
M.multiply = function(a, b)
  return a * b
end

local divide = function(a, b) return a / b end

M.deep.down = function() end

M["ö x"] = function() end

local handlers = {
  limit = 3,
  open = function(path)
    return path
  end,
}

if jit then
  function M.fast() end
end

return M
