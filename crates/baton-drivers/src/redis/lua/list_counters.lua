-- Reads counters in the order of their names.
--
-- ARGV: 4 and 5 between which names, as ZRANGEBYLEX has it, 6 how many

return step(function()
  read_meta()
  local names = read(COUNTERS, 'ZRANGEBYLEX', KEYS[8], ARGV[4], ARGV[5], 'LIMIT', '0', ARGV[6])
  return readings(names)
end)
