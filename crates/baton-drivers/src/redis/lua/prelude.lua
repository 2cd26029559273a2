-- What every step begins with: numbers, reading, writing, and how a step ends.
--
-- KEYS: 1 meta, 2 lease, 3 nodes, 4 view, 5 documents, 6 terms
-- ARGV: 1 '' or, if the server is known to sync every write, the latest mark that the caller saw; 2 the
-- highest lineage the caller saw, 3 namespace; 4 on: the step's own
--
-- A script that fails half-way keeps what it has written. So every step reads all it needs first,
-- and what it reads is checked before the first write.

-- The layout that these scripts write, and the lowest that a program must know to use it.
local SCHEMA, COMPATIBLE = '1', '1'
local MARK_SEEN = ARGV[1]
local SYNCS = MARK_SEEN ~= ''
local KEPT_TERMS = 1000

-- Epochs, lineages and versions have 64 bits, and a Lua number is a double, exact up to 2^53 only.
-- So they are decimal text.
local MOST = '18446744073709551615'

local function is_number(text)
  return type(text) == 'string' and #text <= 20 and string.find(text, '^%d+$') ~= nil
end

local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function higher(a, b)
  if less(a, b) then return b end
  return a
end

local function at_most(a)
  if less(MOST, a) then return MOST end
  return a
end

-- What stands before the last twelve digits, and those: each is exact as a double.
local function halves(text)
  return tonumber(string.sub(text, 1, -13)) or 0, tonumber(string.sub(text, -12))
end

local function joined(high, low)
  if high == 0 then return string.format('%.0f', low) end
  return string.format('%.0f%012.0f', high, low)
end

local function plus(a, b)
  local a_high, a_low = halves(a)
  local b_high, b_low = halves(b)
  local high, low = a_high + b_high, a_low + b_low
  if low >= 1e12 then high, low = high + 1, low - 1e12 end
  return at_most(joined(high, low))
end

local function minus(a, b)
  if not less(b, a) then return '0' end
  local a_high, a_low = halves(a)
  local b_high, b_low = halves(b)
  local high, low = a_high - b_high, a_low - b_low
  if low < 0 then high, low = high - 1, low + 1e12 end
  return joined(high, low)
end

local function thousandfold(a)
  if a == '0' then return a end
  return at_most(a .. '000')
end

-- Microseconds since 1970 stay below 2^53 until the year 2255, and no lease ends later than that.
local clock = redis.call('TIME')
local NOW = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local NEVER = 9007199254740991
local NOW_US = string.format('%.0f', NOW)
local NOW_MS = string.format('%.0f', math.floor(NOW / 1000))

local wrote = false

local function spoilt(record, detail)
  error({ record = record, detail = detail })
end

local function read(record, ...)
  local found = redis.pcall(...)
  if type(found) == 'table' and found.err then
    if string.find(found.err, '^%-?WRONGTYPE') then spoilt(record, 'its key is of another type') end
    error({ refusal = found.err })
  end
  return found
end

local function write(...)
  local done = redis.pcall(...)
  if type(done) == 'table' and done.err then error({ refusal = done.err }) end
  wrote = true
  return done
end

-- A hint may be lost; that it cannot be published is no reason to fail.
local function publish(channel, hint)
  redis.pcall('PUBLISH', channel, hint)
end

-- Runs a step, and turns what stopped it into an answer.
local function step(body)
  local done, answer = pcall(body)
  if done then return answer end
  if type(answer) ~= 'table' then answer = { refusal = tostring(answer) } end
  if wrote then return { 'partial', answer.refusal or answer.detail or '' } end
  if answer.record then return { 'corrupt', answer.record, answer.detail } end
  if answer.newer then return { 'newer', answer.newer, answer.lowest } end
  if answer.elsewhere then return { 'elsewhere', answer.elsewhere } end
  return redis.error_reply((string.gsub(answer.refusal, '^%-', '')))
end
