-- What every write to the user's own data begins with: no later epoch was here.
--
-- KEYS: 1 the fence
-- ARGV: 1 epoch

-- Epochs have 64 bits: compared as decimal text, for a Lua number loses bits above 2^53.
local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local highest = redis.call('GET', KEYS[1]) or '0'
if not string.find(highest, '^%d+$') then return { 'foreign' } end
if less(ARGV[1], highest) then return { 'behind', highest } end

