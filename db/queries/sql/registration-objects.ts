import { readingLimits } from '../../../config/limits.ts'
import { keyDigest, walletKey } from '../../registry-keys.ts'
import { registryOf } from './installation.ts'
import { chainId, hex, isoTime, list, type Member, members } from './json-text.ts'

// A holding `h` as JSON, with the registration `r` and, for one that is held now, its document `d` next to it.

/**
 * What a registration `r` and its document `d` say, as members of a JSON object; `of` has its chain, its id, and since when
 * it is held, `owner` and `uri` are expressions of who holds it and of its URI.
 */
export const registrationMembers = (of: string, owner: string, uri: string): Member[] => [
  ['chain', `${of}.chain`],
  ['chain_id', chainId(`${of}.chain`)],
  ['erc8004_id', `${of}.agent_id`],
  ['registry_address', registryOf(`${of}.chain`)],
  ['owner_address', owner],
  ['agent_wallet', hex('r.agent_wallet')],
  ['agent_uri', uri],
  [
    'uri_status',
    `case when coalesce(r.agent_uri_length, 0) = 0 then 'empty'
                       when d.tried_uri_sha256 <> uri_sha256(r) then 'pending'
                       else coalesce(d.uri_status, 'pending') end`,
  ],
  ['name', 'd.name'],
  ['description', 'd.description'],
  ['image', 'd.image'],
  ['active', 'd.active'],
  ['x402_support', 'd.x402_support'],
  ['services', `coalesce(d.services, '[]')`],
  ['supported_trust', `coalesce(d.supported_trust, '[]')`],
  [
    'feedback_count',
    `coalesce((select t.standing from feedback_total t
                                 where t.chain = ${of}.chain and t.agent_id = ${of}.agent_id), 0)`,
  ],
  ['block_number', 'r.registered_block'],
  ['tx_hash', hex('r.registered_tx')],
  ['deployed_at', isoTime('r.registered_at')],
  ['acquired_at', isoTime(`${of}.acquired_at`)],
  ['updated_at', isoTime('r.updated_at')],
  ['agent_uri_bytes', 'coalesce(r.agent_uri_length, 0)'],
]

/** Lists of the document that are cut. */
export const truncated: Member = ['truncated', `coalesce(d.truncated, '{}')::json`]

/**
 * SQL: names of ENS that the document of a registration claims, with what came of asking them; `of` has its chain and id. None
 * before it was asked for the first time.
 */
const ensNames = (of: string) => `(
  select ${list(`json_build_object('name', one ->> 'name', 'status', one ->> 'status')`, 'place')}
    from control_reading k cross join json_array_elements(k.names) with ordinality said (one, place)
   where k.chain = ${of}.chain and k.agent_id = ${of}.agent_id)`

/** JSON of a registration that is held now; `uri` is the expression of its URI, `more` further members. */
export const recordObject = (uri: string, more: readonly Member[] = []) =>
  `json_build_object(${members([
    ...registrationMembers('h', hex('h.held_by'), uri),
    ['unsolicited', 'h.unsolicited'],
    ['wallet_chain', 'h.wallet_chain'],
    truncated,
    ['ens_names', ensNames('h')],
    ...more,
  ])})`

/**
 * What the wallet of a registration rests on, as a JSON object: the log that named it last. `registered`: the registry
 * took the address of whoever registered; `signed`: the wallet has signed for it, which the registry has checked. Null:
 * there is no wallet.
 */
export const walletEvidence: Member = [
  'agent_wallet_evidence',
  `case when r.agent_wallet is not null then (
      select json_build_object(
               'kind', case when exists (
                   select from registration_transfer t
                    where t.chain = m.chain and t.agent_id = m.agent_id and t.block_number = m.block_number
                      and t."from" is null and t."to" = r.agent_wallet) then 'registered' else 'signed' end,
               'block_number', m.block_number, 'log_index', m.log_index, 'tx_hash', ${hex('m.tx_hash')},
               'set_at', ${isoTime('m.block_timestamp')})
        from registration_metadata m
       where m.id = concat_ws('-', h.chain, h.agent_id, '${keyDigest(walletKey)}')) end`,
]

/** JSON of a holding that ended. `to_fid` is null while the next holder's account is unlisted; the address is shown. */
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
    'to_fid', case when not exists (select from unlisted u where u.fid = h.to_fid) then h.to_fid end,
    'reason', h.reason,
    'wallet_chain', h.wallet_chain
  )`

// Who else may act for a registration than its holder.

/** SQL: whether an event is taken into account. */
type Counts = (event: string) => string
const always: Counts = () => 'true'

interface Holder {
  /** SQL of who holds. */
  readonly holder: string
  /** SQL of the chain. */
  readonly chain: string
  /** Operators at most, those named last. */
  readonly most?: number
  /** Operators and events that are looked at for them. Default: as many as for one holder; fewer where a page has many. */
  readonly looked?: number | undefined
  readonly counts?: Counts
  /** SQL of `everNamedBy`, where that is known already. Default: it is looked up. */
  readonly named?: string | undefined
}

/**
 * SQL: rows `operator` and `nth` of those that a holder ever named on a chain, the first by address: one look into an index
 * for each, however often it was named and taken back.
 */
const everNamed = ({ holder, chain }: Pick<Holder, 'holder' | 'chain'>, most: number) => `
  (with recursive named as (
     (select o.operator, 1 as nth from registration_operator o
       where o.owner = ${holder} and o.chain = ${chain}
       order by o.operator limit 1)
      union all
     select next.operator, named.nth + 1
       from named
      cross join lateral (select o.operator from registration_operator o
                           where o.owner = ${holder} and o.chain = ${chain} and o.operator > named.operator
                           order by o.operator limit 1) next
      where named.nth < ${most})
   select operator, nth from named)`

/**
 * SQL: array of those that a holder ever named on a chain, the first by address: of one that named more than are looked at, one
 * more.
 */
export const everNamedBy = (of: Pick<Holder, 'holder' | 'chain'>) => `array(
  select operator from ${everNamed(of, readingLimits.operatorsNamed + 1)} named order by nth)`

/** SQL: whether there are more of these than are looked at. */
export const areMoreNamed = (named: string) => `cardinality(${named}) > ${readingLimits.operatorsNamed}`

/**
 * SQL: rows `operator` of those that a holder named on a chain. Of one that named more than are looked at, those of its newest
 * events are among them.
 */
export const operatorsNamed = ({ holder, chain, looked, counts = always, named }: Omit<Holder, 'most'>) => `
  (select operator
     from ${
       named
         ? `unnest((${named})[:${readingLimits.operatorsNamed}]) named (operator)`
         : `${everNamed({ holder, chain }, looked ?? readingLimits.operatorsNamed)} named`
     }
    union
   select newest.operator
     from (select o.operator from registration_operator o
            where o.owner = ${holder} and o.chain = ${chain} and ${counts('o')}
            order by o.block_number desc, o.log_index desc
            limit ${looked ?? readingLimits.operatorEvents}) newest)`

/** SQL: rows `address`, `by`, `since` and `tx` of the operators that a holder named on a chain for all it holds there. */
export const operatorsOf = ({
  holder,
  chain,
  most = readingLimits.operatorsNamed,
  looked,
  counts = always,
  named,
}: Holder) => `
  (select last.operator as address, 'operator' as by, last.block_timestamp as since, last.tx_hash as tx
     from ${operatorsNamed({ holder, chain, looked, counts, named })} one
    cross join lateral (
      select o.* from registration_operator o
       where o.owner = ${holder} and o.chain = ${chain} and o.operator = one.operator and ${counts('o')}
       order by o.block_timestamp desc, o.block_number desc, o.log_index desc
       limit 1) last
    where last.approved
    order by last.block_number desc, last.log_index desc
    limit ${most})`

/** SQL: the row `address`, `by`, `since` and `tx` of who is approved for a registration `of` since its last transfer. */
export const approvedFor = (of: string, counts = always) => `
  (select p.approved as address, 'approved' as by, p.block_timestamp as since, p.tx_hash as tx
    from (select p.approved, p.block_number, p.log_index, p.block_timestamp, p.tx_hash
            from registration_approval p
           where p.chain = ${of}.chain and p.agent_id = ${of}.agent_id and ${counts('p')}
           order by p.block_number desc, p.log_index desc
           limit 1) p
   where p.approved is not null
     and not exists (select from registration_transfer t
                      where t.chain = ${of}.chain and t.agent_id = ${of}.agent_id and ${counts('t')}
                        and (t.block_number, t.log_index) > (p.block_number, p.log_index)))`

/** SQL: those who may act for a registration `r` now, except its owner, with so many operators at most. */
export const othersMayAct = (bounds: Pick<Holder, 'most' | 'looked'> = {}) =>
  `(${operatorsOf({ holder: 'r.owner', chain: 'r.chain', ...bounds })} union all ${approvedFor('r')})`
