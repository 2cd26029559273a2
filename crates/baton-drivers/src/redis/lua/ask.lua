-- Leaves a request beside the lease, for the holder of this epoch.
--
-- ARGV: 4 epoch, 5 what is asked, 6 channel, 7 hint

return step(function()
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  keep(meta)
  if not (lease and lease.epoch == ARGV[4] and lease.owner_boot) then
    return { 'ok', meta.lineage, 'conflict' }
  end
  write('HSET', KEYS[2], 'asked', ARGV[5])
  publish(ARGV[6], ARGV[7])
  return { 'ok', meta.lineage, 'applied' }
end)
