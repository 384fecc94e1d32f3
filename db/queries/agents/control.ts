import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { chainPosition, hex, isoTime, list } from '../sql/json-text.ts'
import { approvedFor, areMoreNamed, everNamedBy, operatorsOf } from '../sql/registration-objects.ts'
import { countsFrom, leadingFirst, saidAt } from '../sql/verification-time.ts'
import { common, held, holdings, type Moment, truncated } from './as-of.ts'

/** SQL: whether a row of a registry's events was there at the moment. */
const wasThere = (row: string) => `${row}.block_timestamp <= coalesce($2::timestamptz, 'infinity')`

/** SQL: whether what has a beginning and an end held at the moment, or without one holds now. */
const holdsThen = (from: string, to: string) => `(${held(from, to)} and ($2::timestamptz is not null or ${to} is null))`

/** What may be done by whom. Source: ERC-8004 identity registry, an ERC-721; only `approve` is refused to who is approved. */
const rights = {
  owner: ['uri', 'metadata', 'wallet', 'transfer', 'approve'],
  operator: ['uri', 'metadata', 'wallet', 'transfer', 'approve'],
  approved: ['uri', 'metadata', 'wallet', 'transfer'],
} as const

/** SQL: those who may act for a registration `h`, each with the event that let it. */
const controllers = `
  select 'owner' as by, h.address, h.received_at as since, h.received_tx as tx
   union all
  select by, address, since, tx from operator o where o.chain = h.chain and o.holder = h.address and o.rank <= ${readingLimits.controlOperators}
   union all
  select by, address, since, tx from ${approvedFor('h', wasThere)} approved`

/** SQL: the account that verified an address at the moment, of several the leading one. */
const verifierOf = (address: string) => `(
  select v.fid from verified_address v join agent a using (fid)
   where v.address = ${address} and ${holdsThen(countsFrom('v'), 'v.ended_at')}
     and not exists (select from unlisted u where u.fid = v.fid)
   order by ${leadingFirst} limit 1)`

/** SQL: an address that a reading has as text. */
const bytesOf = (text: string) => `decode(substr(${text}, 3), 'hex')`

/**
 * SQL: what a chain said of an address that acts for a registration `h`, `k` being the reading of that. What was read is
 * of one block alone: null at other moments.
 */
const accountOf = (address: string) => `case when $2::timestamptz is null then (
    select json_build_object(
             'kind', read.account -> 'kind', 'code_hash', read.account -> 'code_hash', 'delegate', read.account -> 'delegate',
             'owners', (select ${list(`json_build_object('address', o.address, 'fid', ${verifierOf(bytesOf('o.address'))})`, 'o.place')}
                          from json_array_elements_text(read.account -> 'owners') with ordinality o (address, place)),
             'owners_total', read.account -> 'owners_total', 'threshold', read.account -> 'threshold',
             'modules', read.account -> 'modules',
             'token', case when read.account ->> 'token' is not null then json_build_object(
               'implementation', read.account #> '{token,implementation}',
               'chain_id', case when (read.account #>> '{token,chain_id}')::numeric < ${Number.MAX_SAFE_INTEGER}
                 then (read.account #>> '{token,chain_id}')::numeric end,
               'contract', read.account #> '{token,contract}', 'token_id', read.account #> '{token,token_id}',
               'holder', read.account #> '{token,holder}') end,
             'block_number', read.account -> 'block_number', 'block_timestamp', read.account -> 'block_timestamp')
      from json_array_elements(k.accounts) read (account)
     where read.account ->> 'address' = ${hex(address)}) end`

const controllerObject = `json_build_object(
  'address', ${hex('c.address')}, 'by', c.by,
  'may', case c.by ${Object.entries(rights)
    .map(([by, may]) => `when '${by}' then '${JSON.stringify(may)}'::json`)
    .join(' ')} end,
  'fid', ${verifierOf('c.address')}, 'since', ${isoTime('c.since')}, 'tx_hash', ${hex('c.tx')},
  'account', ${accountOf('c.address')})`

const agentWallet = `(
  select json_build_object('address', ${hex('w.wallet')}, 'fid', ${verifierOf('w.wallet')},
                           'since', ${isoTime('w.block_timestamp')}, 'tx_hash', ${hex('w.tx_hash')},
                           'account', ${accountOf('w.wallet')})
    from (select w.wallet, w.block_timestamp, w.tx_hash
            from registration_wallet w
           where w.chain = h.chain and w.agent_id = h.agent_id
             and (w.block_number, w.log_index) > (last.block_number, last.log_index) and ${wasThere('w')}
           order by w.block_number desc, w.log_index desc
           limit 1) w
   where w.wallet is not null)`

/** SQL: the token that a contract bound a registration to, by the reading `k`. Source: draft ERC-8217. */
const boundTo = `json_build_object(
  'status', k.binding_status, 'standard', k.binding_standard, 'contract', ${hex('k.token_contract')},
  'token_id', k.token_id::text, 'holder', ${hex('k.master')}, 'fid', ${verifierOf('k.master')},
  'block_number', k.binding_block, 'block_timestamp', ${isoTime('k.binding_block_at')})`

/** SQL: what the names say that the document claims of the registration `h`, by the reading `k`. */
const names = `case when $2::timestamptz is null then coalesce(k.names, '[]') end`

const most = readingLimits.controlRegistrations
/** Registrations that an address gave away, and those that it is the wallet of, that are looked at for being bound to it. */
const mostActs = 5_000

/** SQL: registrations with which an address `own` of the account acted: it gave them away, or is their wallet, as which it had to sign. */
const acted = `
  select t.chain, t.agent_id
    from own cross join lateral (select t.chain, t.agent_id from registration_transfer t
                                  where t."from" = own.address
                                  order by t.chain, t.agent_id limit ${mostActs}) t
   union
  select w.chain, w.agent_id
    from own cross join lateral (select r.chain, r.agent_id from registration r
                                  where r.agent_wallet = own.address
                                  order by r.chain, r.agent_id limit ${mostActs}) w`

/**
 * SQL: registrations that contracts hold for whoever holds the tokens they are bound to, where that is the account, in their
 * `place`. Anybody can bind any number of registrations to somebody's token. So those for which the account acted are found
 * from its side and go first, and of the others only as many are read as are shown.
 */
const bound = `own as materialized (
  select v.address from verified_address v where v.fid = $1 and v.ended_at is null and $2::timestamptz is null
),
first_bound as materialized (
  select k.chain, k.agent_id, own.address
    from own
   cross join lateral (
     select k.chain, k.agent_id from control_reading k
      where k.master = own.address and k.binding_status = 'verified'
      order by k.chain, k.agent_id
      limit ${most} + 1
   ) k
),
bound as materialized (
  select k.*, row_number() over (order by not found.acted, ${chainPosition('k.chain')}, k.agent_id) as place
    from (select chain, agent_id, bool_or(acted) as acted
            from (select chain, agent_id, false as acted from first_bound
                   union all
                  select chain, agent_id, true from (${acted}) acted) found
           group by chain, agent_id) found
   cross join lateral (
     select k.* from control_reading k
      where k.chain = found.chain and k.agent_id = found.agent_id
        and k.binding_status = 'verified' and k.master in (select address from own)
        and k.binding = (select r.owner from registration r where r.chain = k.chain and r.agent_id = k.agent_id)
     offset 0 -- looked up one by one: a join would be planned as if there were as many as the bounds allow
   ) k
   order by place
   limit ${most} + 1
)`
const boundObject = `json_build_object(
  'chain', k.chain, 'erc8004_id', k.agent_id, 'contract', ${hex('k.binding')}, 'bound_to', ${boundTo})`

/** Source: draft ERC-8217, metadata key agent-binding, whose value is the address of a contract. */
const binding = `(
  select json_build_object('contract', ${hex('m.value')}, 'holds_token', m.value = h.address,
                           'since', ${isoTime('m.block_timestamp')}, 'tx_hash', ${hex('m.tx_hash')},
                           'bound_to', case when $2::timestamptz is null and k.binding = m.value then ${boundTo} end)
    from registration_metadata m
   where m.chain = h.chain and m.agent_id = h.agent_id and m.key = 'agent-binding' and length(m.value) = 20
     and ${wasThere('m')})`

/** Of each key the newest value alone is stored: what it was before that was set is not known. */
const isBindingKnown = `not exists (
  select from registration_metadata m
   where m.chain = h.chain and m.agent_id = h.agent_id and m.key = 'agent-binding' and not ${wasThere('m')})`

/** What strangers sent goes last: they can send any number, and it would be all that is shown. */
const isUnsolicited = `(h.chain, h.agent_id, h.address) in (
  select sent.chain, sent.agent_id, sent.held_by from agent_holding sent where sent.fid = $1 and sent.unsolicited)`

const areOperatorsCut = `exists (
  select from holder
   where holder.chain = h.chain and holder.holder = h.address
     and (${areMoreNamed('holder.named')}
          or exists (select from operator o
                      where o.chain = h.chain and o.holder = h.address and o.rank > ${readingLimits.controlOperators})))`

const text = `
with member as (
  select v.address, ${countsFrom('v')} as begins, ${saidAt('v')} as said, v.ended_at as ends
    from verified_address v where v.fid = $1
),${holdings},
then_held as (select * from holding h where ${holdsThen('h.begins', 'h.ends')} and h.chain in (select chain from known where yes)),
shown as materialized (
  select * from then_held h
   order by ${isUnsolicited}, ${chainPosition('chain')}, agent_id, address
   limit ${most}
),
holder as materialized (
  select chain, address as holder, ${everNamedBy({ holder: 'one.address', chain: 'one.chain' })} as named
    from (select distinct chain, address from shown) one
),
operator as materialized (
  select holder.chain, holder.holder, o.*, row_number() over (partition by holder.chain, holder.holder order by o.since desc, o.address) as rank
    from holder
   cross join lateral ${operatorsOf({ holder: 'holder.holder', chain: 'holder.chain', counts: wasThere, named: 'holder.named' })} o
),
${bound},
told as materialized (
  select h.chain, h.agent_id, h.address,
         json_build_object(
           'erc8004_id', h.agent_id, 'held_by', ${hex('h.address')},
           'controllers', (select ${list(controllerObject, `array_position('{owner,approved,operator}', c.by), c.since, c.address`)} from (${controllers}) c),
           'operators_truncated', ${areOperatorsCut},
           'agent_wallet', ${agentWallet},
           'binding', ${binding},
           'binding_known', ${isBindingKnown},
           'names', ${names}) as body
    from shown h
    left join control_reading k using (chain, agent_id)
   cross join lateral (
     select t.block_number, t.log_index
       from registration_transfer t
      where t.chain = h.chain and t.agent_id = h.agent_id and ${wasThere('t')}
      order by t.block_number desc, t.log_index desc
      limit 1
   ) last
)
select json_build_object(
         'fid', a.fid, ${common},
         'registrations_total', (select count(*) from then_held),
         'chains', (
           select ${list(
             `json_build_object('chain', known.chain, 'registrations', case when known.yes then (
               select ${list('t.body', 't.agent_id, t.address')} from told t where t.chain = known.chain) end)`,
             chainPosition('known.chain'),
           )} from known),
         'bound', case when $2::timestamptz is null then (
           select ${list(boundObject, 'k.place')}
             from (select * from bound order by place limit ${most}) k) end,
         'truncated', ${truncated} or (select count(*) from bound) > ${most} or (select count(*) from then_held) > ${most}
                      or exists (select from first_bound group by address having count(*) > ${most}))::text as body
  from agent a
 where a.fid = $1`

/** JSON of `GET /api/agent/:fid/control`; a null moment is now. Undefined: the fid is not in the index. */
export async function agentControl(db: Queryable, fid: number, at: Moment): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'agent-control',
    text,
    values: [fid, at === null ? null : new Date(at).toISOString()],
  })
  return rows[0]?.body
}
