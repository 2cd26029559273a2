-- Gives the lease up: clears the holder, keeps the record and its epoch, and publishes a hint.
--
-- ARGV: 4 epoch and 5 nonce held, 6 nonce, 7 successor or '', 8 how the term ended, 9 channel, 10 hint

return step(function()
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local last = last_term()
  keep(meta)
  if not (lease and is_at(lease, ARGV[4], ARGV[5]) and lease.owner_boot) then
    return { 'ok', meta.lineage, 'conflict' }
  end
  write('HSET', KEYS[2], 'status', '0', 'nonce', ARGV[6], 'expires_us', NOW_US, 'updated_us', NOW_US)
  write('HDEL', KEYS[2], 'owner_id', 'owner_boot', 'owner_lifeline', 'successor', 'asked')
  if ARGV[7] ~= '' then write('HSET', KEYS[2], 'successor', ARGV[7]) end
  if last and last.epoch == lease.epoch then end_term(last, last_acted_ms(lease), ARGV[8]) end
  publish(ARGV[9], ARGV[10])
  return { 'ok', meta.lineage, 'applied' }
end)
