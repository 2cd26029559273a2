-- One beat: the node record, the lease, and the view if it is newer than the one known.
--
-- ARGV: 4 node, 5 boot, 6 beat, 7 record, 8 boot to replace or '', 9 and 10 the view known: epoch,
-- number; 11 'observe'
--   or 'acquire': 12 epoch or '', 13 nonce expected, 14 claim, 15 boot that is dead, 16 lineage,
--                 17 floor, 18 nonce, 19 ttl in microseconds, 20 '+lifeline' or ''
--   or 'renew':   12 epoch, 13 nonce expected, 14 lineage, 15 nonce, 16 ttl in microseconds

local function newer_view()
  local record = 'the view of namespace ' .. ARGV[3]
  local found = read(record, 'HMGET', KEYS[4], 'epoch', 'number', 'body')
  if not found[1] then return false end
  if not is_number(found[1]) or not is_number(found[2]) or not found[3] then
    spoilt(record, 'its version is not one')
  end
  local same = found[1] == ARGV[9]
  if less(ARGV[9], found[1]) or (same and less(ARGV[10], found[2])) then return found[3] end
  return false
end

-- How the last term ends if the claim holds ('' if none is open); nil if it does not hold.
local function claim_holds(meta, lease)
  local claim, dead = ARGV[14], ARGV[15]
  if ARGV[16] ~= meta.lineage then return nil end
  if not lease then
    if ARGV[12] == '' and claim == 'vacant' then return '' end
    return nil
  end
  if not is_at(lease, ARGV[12], ARGV[13]) then return nil end
  if claim == 'vacant' and not lease.owner_boot then return '' end
  if claim == 'expired' and lease.owner_boot and has_expired(lease) then return 'expired' end
  if claim == 'dead' and lease.owner_boot == dead then return 'proved-dead' end
  return nil
end

-- Above all that was granted or written in here, all that the claimant has seen, and all that may
-- have been granted and lost: a leap for each lineage since the last grant.
local function next_epoch(meta, lease)
  local stored, granted_in = '0', meta.born_in
  if lease then stored, granted_in = lease.epoch, lease.granted_in end
  local leapt = plus(stored, thousandfold(minus(meta.lineage, granted_in)))
  return plus(higher(higher(leapt, ARGV[17]), meta.fence), '1')
end

local function acquire(meta, lease, last)
  local how = claim_holds(meta, lease)
  if not how then return 'conflict' end
  local epoch = next_epoch(meta, lease)
  local silent_ms = nil
  if how ~= '' and last and last.ended == '-' then
    end_term(last, last_acted_ms(lease), how)
    silent_ms = ms_since(lease.updated_us)
  end
  begin_term(last, epoch, ARGV[4], ARGV[5], silent_ms)
  write('HSET', KEYS[2], 'namespace', ARGV[3], 'status', '1', 'epoch', epoch, 'nonce', ARGV[18],
    'owner_id', ARGV[4], 'owner_boot', ARGV[5], 'ttl_us', ARGV[19],
    'expires_us', expiry(ARGV[19]), 'written_in', meta.lineage, 'granted_in', meta.lineage,
    'created_us', NOW_US, 'updated_us', NOW_US)
  write('HDEL', KEYS[2], 'owner_lifeline', 'successor', 'asked')
  if ARGV[20] ~= '' then write('HSET', KEYS[2], 'owner_lifeline', string.sub(ARGV[20], 2)) end
  -- Kept beside the lease too: a lease that vanishes takes no epoch with it.
  write('HSET', KEYS[1], 'fence', higher(meta.fence, epoch), 'granted', epoch)
  return 'applied'
end

local function renew(meta, lease)
  local sound = lease and ARGV[14] == meta.lineage and is_at(lease, ARGV[12], ARGV[13])
    and lease.owner_boot and not has_expired(lease)
  if not sound then return 'conflict' end
  write('HSET', KEYS[2], 'nonce', ARGV[15], 'ttl_us', ARGV[16], 'expires_us', expiry(ARGV[16]),
    'written_in', meta.lineage, 'updated_us', NOW_US)
  return 'applied'
end

return step(function()
  local lease = read_lease()
  local meta = settle(read_meta(), lease)
  local view = newer_view()
  local last = ARGV[11] == 'acquire' and last_term() or nil
  local record = 'the record of node ' .. ARGV[4] .. ' in namespace ' .. ARGV[3]
  local known = read(record, 'HGET', KEYS[3], ARGV[4])
  local boot, beat
  if known then
    boot, beat = string.match(known, '^(%x+) (%d+) %d+ ')
    if not boot then spoilt(record, 'it does not begin with boot, beat and time') end
  end
  keep(meta)
  if SYNCS then leave_traces() end
  if known and boot ~= ARGV[5] and boot ~= ARGV[8] then
    return { 'ok', meta.lineage, NOW_US, false, boot, beat, view, redis.call('HGETALL', KEYS[2]) }
  end
  write('HSET', KEYS[3], ARGV[4], ARGV[5] .. ' ' .. ARGV[6] .. ' ' .. NOW_US .. ' ' .. ARGV[7])
  local outcome = false
  if ARGV[11] == 'acquire' then outcome = acquire(meta, lease, last) end
  if ARGV[11] == 'renew' then outcome = renew(meta, lease) end
  return { 'ok', meta.lineage, NOW_US, outcome, false, false, view, redis.call('HGETALL', KEYS[2]) }
end)
