-- Reads these counters.
--
-- ARGV: 4 on: their names, each once

return step(function()
  read_meta()
  local names = {}
  for at = 4, #ARGV do names[at - 3] = ARGV[at] end
  return readings(names)
end)
