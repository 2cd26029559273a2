-- A user's own write, conditional on the epoch: in one script with the check of its fence.
--
-- KEYS: 1 the fence; 2 on: every key that the commands touch
-- ARGV: 1 epoch; then for each command: how many words it has, and those words
--
-- Answers 'behind' and the highest epoch that was here; 'foreign' if the fence holds no epoch; or
-- 'written' and what each command answered.
-- A command that fails ends the script with its error: the ones before it stay, the fence too.

redis.call('SET', KEYS[1], ARGV[1])
local answers = { 'written' }
local at = 2
while at <= #ARGV do
  local words = {}
  for word = at + 1, at + tonumber(ARGV[at]) do table.insert(words, ARGV[word]) end
  local answer = redis.pcall(unpack(words))
  if type(answer) == 'table' and answer.err then return redis.error_reply(answer.err) end
  table.insert(answers, answer)
  at = at + #words + 1
end
return answers
