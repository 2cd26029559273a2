-- Counters: one hash, which every step changes by one command, so that none can end half-way.
--
--   c:name  what is consolidated      n:name  the same with what is pending
--   q:at    a pending change          first, next  where the pending ones begin and go on
--   w:boot  the last append of a writer
--
-- KEYS: 7 that hash, 8 the names, sorted, 9 the writers by the millisecond of their last append
--
-- The last two are only ways to find things. A name is there before its counter is, and a writer is
-- there as long as its last append is.

local COUNTERS = 'the counters of namespace ' .. ARGV[3]
local LEAST, GREATEST = '-9223372036854775808', '9223372036854775807'

local function magnitude(text)
  if string.sub(text, 1, 1) == '-' then return string.sub(text, 2) end
  return text
end

local function is_negative(text)
  return string.sub(text, 1, 1) == '-'
end

-- A value is a number of 64 bits with a sign, as text, with '!' after it if it overflowed.
local function is_value(text)
  return type(text) == 'string' and #text <= 21 and string.find(text, '^%-?%d+!?$') ~= nil
end

local function signed(negative, size)
  if size == '0' then return size end
  if not negative then
    if less(GREATEST, size) then return GREATEST, true end
    return size
  end
  if less(magnitude(LEAST), size) then return LEAST, true end
  return '-' .. size
end

-- The sum, and whether it does not fit.
local function sum(a, b)
  local one, other = magnitude(a), magnitude(b)
  if is_negative(a) == is_negative(b) then return signed(is_negative(a), plus(one, other)) end
  if less(one, other) then return signed(is_negative(b), minus(other, one)) end
  return signed(is_negative(a), minus(one, other))
end

-- The value after one change: 'add' or 'set', and the amount.
local function changed(value, kind, amount)
  if kind == 'set' then return amount end
  local mark = ''
  if string.sub(value, -1) == '!' then value, mark = string.sub(value, 1, -2), '!' end
  local total, is_over = sum(value, amount)
  if is_over then mark = '!' end
  return total .. mark
end

-- Fields of the hash, in the order of the names, by as many commands as it takes.
local function fields(names)
  local found = {}
  for from = 1, #names, 4000 do
    local some = read(COUNTERS, 'HMGET', KEYS[7], unpack(names, from, math.min(from + 3999, #names)))
    for _, value in ipairs(some) do table.insert(found, value) end
  end
  return found
end

-- The values of these counters, '0' for what is not there. kind: 'c:' or 'n:'
local function values_of(kind, names)
  local asked = {}
  for at, name in ipairs(names) do asked[at] = kind .. name end
  local values = {}
  for at, value in ipairs(fields(asked)) do
    if value and not is_value(value) then spoilt(COUNTERS, names[at] .. ' is not a number') end
    values[names[at]] = value or '0'
  end
  return values
end

-- Where the pending changes begin and go on: first, next.
local function pending_ends()
  local ends = fields({ 'first', 'next' })
  local first, after = ends[1] or '1', ends[2] or '1'
  if not is_number(first) or not is_number(after) then
    spoilt(COUNTERS, 'it is not known what is pending')
  end
  return first, after
end

-- The answer to a reading: for each of the names that has been counted, name, consolidated, current.
local function readings(names)
  local answer = { 'ok', {} }
  local known = {}
  for _, name in ipairs(names) do table.insert(known, 'n:' .. name) end
  local current = fields(known)
  local consolidated = values_of('c:', names)
  for at, name in ipairs(names) do
    if current[at] then
      if not is_value(current[at]) then spoilt(COUNTERS, name .. ' is not a number') end
      for _, piece in ipairs({ name, consolidated[name], current[at] }) do
        table.insert(answer[2], piece)
      end
    end
  end
  return answer
end
