import { chainNames } from '../../config/chains.ts'
import type { Queryable } from '../../db/pool.ts'
import type { Token } from './chain/rows.ts'

/** A history of chain and network, in memory. Times are milliseconds. */
export interface History {
  readonly transfers: { token: Token; from: string | null; to: string | null; block: number; at: number }[]
  readonly verifications: { fid: number; address: string; verifiedAt: number; endedAt: number | null }[]
  readonly claims: { fid: number; method: string; at: number }[]
}

export interface AgentRow {
  readonly fid: number
  readonly agent_status: string
  readonly chains: string[]
  readonly verified_addresses: string[]
  readonly claimed: boolean
  readonly claim_method: string | null
  readonly registered_at: number
  readonly listed_at: number
  readonly holdings: HoldingRow[]
}

interface HoldingRow {
  readonly chain: string
  readonly agent_id: string
  readonly held_by: string
  readonly acquired_block: number
  readonly acquired_at: number
  readonly released_block: number | null
  readonly released_at: number | null
  readonly transferred_to: string | null
  readonly to_fid: number | null
  readonly reason: string | null
}

/** The index that follows from a history by the rules of the contract, derived agent by agent and token by token. */
export function modelAgents(history: History): AgentRow[] {
  const fids = new Set([...history.verifications, ...history.claims].map(({ fid }) => fid))
  return [...fids].sort((a, b) => a - b).flatMap((fid) => modelAgent(history, fid) ?? [])
}

function modelAgent(history: History, fid: number): AgentRow | undefined {
  const own = history.verifications.filter((one) => one.fid === fid)
  const claims = history.claims.filter((one) => one.fid === fid).sort((a, b) => a.at - b.at)
  const held = [...new Set(own.map(({ address }) => address))].flatMap((address) => {
    return holdingsOf(history, own, address)
  })
  if (held.length === 0 && claims.length === 0) return undefined
  const current = held.filter(({ reason }) => reason === null)
  const mintOf = ({ chain, agent_id }: HoldingRow) => {
    const first = history.transfers.find(({ token }) => token.chain === chain && String(token.id) === agent_id)
    return first!.at
  }
  const moments = held.flatMap((holding) => {
    return own
      .filter(({ address, endedAt }) => address === holding.held_by && (endedAt ?? Infinity) > holding.acquired_at)
      .map(({ verifiedAt }) => Math.max(verifiedAt, holding.acquired_at))
  })
  return {
    fid,
    agent_status: current.length > 0 ? 'active' : held.length > 0 ? 'historical' : 'claimed-only',
    chains: chainNames.filter((name) => current.some(({ chain }) => chain === name)),
    verified_addresses: own
      .filter(({ endedAt }) => endedAt === null)
      .map(({ address }) => address)
      .sort(),
    claimed: claims.length > 0,
    claim_method: claims.at(-1)?.method ?? null,
    registered_at: held.length > 0 ? Math.min(...(current.length > 0 ? current : held).map(mintOf)) : claims[0]!.at,
    listed_at: moments.length > 0 ? Math.min(...moments) : claims[0]!.at,
    holdings: held.sort((a, b) => a.acquired_block - b.acquired_block),
  }
}

function holdingsOf(history: History, own: History['verifications'], address: string): HoldingRow[] {
  const rows = own.filter((one) => one.address === address)
  const live = rows.some(({ endedAt }) => endedAt === null)
  const lastEnd = Math.max(...rows.map(({ endedAt }) => endedAt ?? Infinity))
  const moves = history.transfers.filter(({ from, to }) => from !== to)
  return moves.flatMap((move, index): HoldingRow[] => {
    if (move.to !== address || (!live && lastEnd <= move.at)) return []
    const same = (other: typeof move) => other.token.chain === move.token.chain && other.token.id === move.token.id
    const next = moves.slice(index + 1).find(same)
    const start = {
      chain: move.token.chain,
      agent_id: String(move.token.id),
      held_by: address,
      acquired_block: move.block,
      acquired_at: move.at,
    }
    const nothing = { released_block: null, released_at: null, transferred_to: null, to_fid: null, reason: null }
    if (!live && (!next || next.at > lastEnd)) {
      return [{ ...start, ...nothing, released_at: lastEnd, reason: 'verification_removed' }]
    }
    if (!next) return [{ ...start, ...nothing }]
    return [
      {
        ...start,
        released_block: next.block,
        released_at: next.at,
        transferred_to: next.to,
        to_fid: next.to === null ? null : fidOf(history, next.to),
        reason: next.to === null ? 'burn' : 'transfer',
      },
    ]
  })
}

/** Who verifies an address: the claimed first, then the newest verification, then the lowest FID. */
function fidOf(history: History, address: string): number | null {
  const claimed = (fid: number) => history.claims.some((one) => one.fid === fid)
  const live = history.verifications.filter((one) => one.address === address && one.endedAt === null)
  live.sort((a, b) => Number(claimed(b.fid)) - Number(claimed(a.fid)) || b.verifiedAt - a.verifiedAt || a.fid - b.fid)
  return live[0]?.fid ?? null
}

/** The index as stored, in the model's shape. */
export async function storedAgents(db: Queryable): Promise<AgentRow[]> {
  const { rows } = await db.query<AgentRow>(
    `select a.fid, agent_status, chains, claimed, claim_method,
            array(select '0x' || encode(v, 'hex') from unnest(verified_addresses) v) as verified_addresses,
            (extract(epoch from registered_at) * 1000)::bigint as registered_at,
            (extract(epoch from listed_at) * 1000)::bigint as listed_at,
            coalesce((select json_agg(json_build_object(
              'chain', chain, 'agent_id', agent_id::text, 'held_by', '0x' || encode(held_by, 'hex'),
              'acquired_block', acquired_block, 'acquired_at', (extract(epoch from acquired_at) * 1000)::bigint,
              'released_block', released_block,
              'released_at', (extract(epoch from released_at) * 1000)::bigint,
              'transferred_to', '0x' || encode(transferred_to, 'hex'), 'to_fid', to_fid, 'reason', reason
            ) order by acquired_block) from agent_holding h where h.fid = a.fid), '[]') as holdings
       from agent a order by a.fid`,
  )
  return rows
}

/** FIDs of a mirror that followed `agent_change` from the beginning. Throws when the changes contradict each other. */
export async function followedFids(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ fid: number; kind: string }>('select fid, kind from agent_change order by seq')
  const followed = new Set<number>()
  for (const { fid, kind } of rows) {
    if (kind === 'upsert') followed.add(fid)
    else if (!followed.delete(fid)) throw new Error(`fid ${fid} was delisted without having been listed`)
  }
  return [...followed].sort((a, b) => a - b)
}

/** FIDs whose row in `searched_agent` differs from `agent` and `agent_words`. */
export async function differencesOfSearched(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>(`
    select fid
      from (select fid, search, concat_ws('|', array_to_string(chains, ','), claimed, has_spec, has_codehost) as combination,
                   coalesce(document || to_tsvector('simple', agent_words.bio), '') as document
              from agent left join agent_words using (fid)) said
      full join searched_agent kept using (fid, search, combination, document)
     where said is null or kept is null
     order by fid`)
  return rows.map(({ fid }) => fid)
}
