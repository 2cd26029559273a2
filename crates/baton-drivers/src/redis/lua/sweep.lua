-- One batch of keys that have expired by an index of the user's: a sorted set whose members are the
-- keys, and whose scores are their expiries in milliseconds since 1970.
--
-- KEYS: 1 the fence, 2 the index
-- ARGV: 1 epoch, 2 the most that may go, 3 'delete', 'soft', 'archive', 'read' or 'remove',
--       4 the field or the prefix, 5 on: the keys that 'remove' is about
--
-- Answers 'behind' and the highest epoch that was here; 'foreign' if the fence holds no epoch;
-- 'refused', and why; or 'swept', how many went, how many were due, and what 'read' found.

local clock = redis.call('TIME')
local now = string.format('%.0f', tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000))
local act, given = ARGV[3], ARGV[4]

local due = {}
if act == 'remove' then
  for at = 5, #ARGV do
    local score = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[at]) or 'inf')
    if score <= tonumber(now) then table.insert(due, ARGV[at]) end
  end
else
  due = redis.pcall('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[2])
  if due.err then return { 'refused', due.err } end
end

-- Everything is looked at before anything is written.
if act == 'soft' then
  for _, key in ipairs(due) do
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'hash' and kind ~= 'none' then
      return { 'refused', 'key ' .. key .. ' is a ' .. kind .. ', and only a hash can be marked' }
    end
  end
end

redis.call('SET', KEYS[1], ARGV[1])
if act == 'read' then
  local found = {}
  for _, key in ipairs(due) do
    local kind, value = redis.call('TYPE', key).ok, false
    if kind == 'string' then value = redis.call('GET', key) end
    if kind == 'hash' then value = redis.call('HGETALL', key) end
    table.insert(found, { key, redis.call('ZSCORE', KEYS[2], key), value })
  end
  return { 'swept', 0, #due, found }
end

for _, key in ipairs(due) do
  local is_there = redis.call('EXISTS', key) == 1
  if is_there and act == 'archive' then
    redis.call('RENAME', key, given .. key)
  elseif is_there and act == 'soft' then
    redis.call('HSETNX', key, given, now)
  elseif is_there then
    redis.call('UNLINK', key)
  end
  redis.call('ZREM', KEYS[2], key)
end
return { 'swept', #due, #due, {} }
