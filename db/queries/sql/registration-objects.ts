import { registryOf } from './installation.ts'
import { chainId, hex, isoTime } from './json-text.ts'

// A holding `h` as JSON, with the registration `r` and, for one that is held now, its document `d` beside it.

/** JSON of a registration that is held now; `uri` is the expression of its URI. */
export const recordObject = (uri: string) => `json_build_object(
    'chain', h.chain,
    'chain_id', ${chainId('h.chain')},
    'erc8004_id', h.agent_id,
    'registry_address', ${registryOf('h.chain')},
    'owner_address', ${hex('h.held_by')},
    'agent_wallet', ${hex('r.agent_wallet')},
    'agent_uri', ${uri},
    'uri_status', case when coalesce(r.agent_uri_length, 0) = 0 then 'empty'
                       when d.tried_uri_sha256 <> uri_sha256(r) then 'pending'
                       else coalesce(d.uri_status, 'pending') end,
    'name', d.name,
    'description', d.description,
    'image', d.image,
    'active', d.active,
    'x402_support', d.x402_support,
    'services', coalesce(d.services, '[]'),
    'supported_trust', coalesce(d.supported_trust, '[]'),
    'feedback_count', coalesce((select t.standing from feedback_total t
                                 where t.chain = h.chain and t.agent_id = h.agent_id), 0),
    'block_number', r.registered_block,
    'tx_hash', ${hex('r.registered_tx')},
    'deployed_at', ${isoTime('r.registered_at')},
    'acquired_at', ${isoTime('h.acquired_at')},
    'updated_at', ${isoTime('r.updated_at')},
    'agent_uri_bytes', coalesce(r.agent_uri_length, 0),
    'unsolicited', h.unsolicited
  )`

/** JSON of a holding that ended. */
export const historyObject = `json_build_object(
    'chain', h.chain,
    'chain_id', ${chainId('h.chain')},
    'erc8004_id', h.agent_id,
    'block_number', coalesce(r.registered_block, h.acquired_block),
    'deployed_at', ${isoTime('coalesce(r.registered_at, h.acquired_at)')},
    'held_by', ${hex('h.held_by')},
    'acquired_at', ${isoTime('h.acquired_at')},
    'released_at', ${isoTime('h.released_at')},
    'released_block', h.released_block,
    'released_tx', ${hex('h.released_tx')},
    'transferred_to', ${hex('h.transferred_to')},
    'to_fid', h.to_fid,
    'reason', h.reason
  )`
