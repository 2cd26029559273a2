-- Which of the commands that the steps use this user may not run. Runs none of them. Servers before
-- 7.0 cannot be asked, and answer an empty list.
--
-- KEYS: as in the steps; ARGV: 1 channel

if not redis.acl_check_cmd then return {} end
local asked = {
  { 'TIME' }, { 'INFO' }, { 'HGET', KEYS[3], 'x' }, { 'HMGET', KEYS[1], 'x' }, { 'HGETALL', KEYS[2] },
  { 'HSET', KEYS[2], 'x', 'x' }, { 'HDEL', KEYS[2], 'x' }, { 'LINDEX', KEYS[6], '-1' },
  { 'LRANGE', KEYS[6], '-1', '-1' }, { 'LSET', KEYS[6], '-1', 'x' }, { 'RPUSH', KEYS[6], 'x' },
  { 'LTRIM', KEYS[6], '-1', '-1' }, { 'PUBLISH', ARGV[1], 'x' }, { 'HMGET', KEYS[7], 'x' },
  { 'HSET', KEYS[7], 'x', 'x' }, { 'HDEL', KEYS[7], 'x' }, { 'ZCARD', KEYS[8] },
  { 'ZADD', KEYS[8], '0', 'x' }, { 'ZRANGEBYLEX', KEYS[8], '-', '+' }, { 'ZREM', KEYS[9], 'x' },
  { 'ZRANGEBYSCORE', KEYS[9], '0', '0' },
}
local forbidden = {}
for _, command in ipairs(asked) do
  if not redis.acl_check_cmd(unpack(command)) then
    table.insert(forbidden, command[1] .. ' on ' .. (command[2] or 'the server'))
  end
end
return forbidden
