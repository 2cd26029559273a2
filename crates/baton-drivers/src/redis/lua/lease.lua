-- The lease: one hash without a time to live. It is never deleted.

local LEASE = 'the lease of namespace ' .. ARGV[3]
local LEASE_NUMBERS = { 'epoch', 'ttl_us', 'expires_us', 'written_in', 'granted_in' }

local function read_lease()
  local flat = read(LEASE, 'HGETALL', KEYS[2])
  if #flat == 0 then return nil end
  local lease = {}
  for at = 1, #flat, 2 do lease[flat[at]] = flat[at + 1] end
  for _, name in ipairs(LEASE_NUMBERS) do
    if not is_number(lease[name]) then spoilt(LEASE, 'its ' .. name .. ' is not a number') end
  end
  if not string.find(lease.nonce or '', '^%x+#%d+$') then spoilt(LEASE, 'its nonce is not one') end
  if (lease.status == '1') ~= (lease.owner_boot ~= nil) then
    spoilt(LEASE, 'its status does not go with its owner')
  end
  -- One lease_key for two namespaces would make one lease of two.
  if lease.namespace ~= ARGV[3] then error({ elsewhere = lease.namespace or '' }) end
  return lease
end

local function is_at(lease, epoch, nonce)
  return lease.epoch == epoch and lease.nonce == nonce
end

local function has_expired(lease)
  return NOW >= tonumber(lease.expires_us)
end

local function expiry(ttl_us)
  return string.format('%.0f', math.min(NOW + tonumber(ttl_us), NEVER))
end

-- Whole milliseconds since then.
local function ms_since(us)
  return string.format('%.0f', math.floor(math.max(NOW - (tonumber(us) or NOW), 0) / 1000))
end

-- When the holder could last act, if that ends now: now, or when its lease ran out. It is only
-- known to have acted until it last renewed the lease, at updated_us.
local function last_acted_ms(lease)
  return minus(NOW_MS, ms_since(lease.expires_us))
end

-- Is a later epoch known here, by a grant or by a write?
local function is_fenced_off(meta, lease, fence)
  local known = meta.fence
  if lease then known = higher(known, lease.epoch) end
  return less(fence, known)
end
