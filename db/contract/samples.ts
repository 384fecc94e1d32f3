export interface Sample {
  readonly question: string
  readonly sql: string
}

/** Questions data teams ask first. Each runs as directory_reader, and what it costs is kept in reads.json. */
export const samples: readonly Sample[] = [
  {
    question: 'Which agents were paid most often in the last 30 days?',
    sql: `select fid, handle, settlements_30d
  from directory.agents
 order by settlements_30d desc, settlements_all desc, fid desc
 limit 10`,
  },
  {
    question: 'How often was agent 1 paid, to the block, and how much?',
    sql: `select count(*) as settlements, sum(amount_usdc) as amount_usdc
  from directory.agent_settlements
 where fid = 1 and counted`,
  },
  {
    question: 'What did agent 1 receive day by day?',
    sql: `select day, sum(settlements) as settlements, sum(amount_usdc) as amount_usdc
  from directory.agent_settlements_daily
 where fid = 1 and counted
 group by day
 order by day desc
 limit 30`,
  },
  {
    question: 'Who pays agent 1 most?',
    sql: `select payer_address, count(*) as settlements, sum(amount_usdc) as amount_usdc
  from directory.agent_settlements
 where fid = 1 and counted
 group by payer_address
 order by settlements desc, payer_address
 limit 10`,
  },
  {
    question: 'Which settlements did one address receive, whoever it is?',
    sql: `select chain, block_number, tx_hash, payer_address, amount_usdc
  from directory.settlements
 where recipient_bytes = (select address_bytes from directory.addresses where fid = 1 order by address limit 1)
 order by block_number desc
 limit 20`,
  },
  {
    question: 'Who broadcasts the settlements of Base, over the last ten thousand blocks?',
    sql: `select facilitator_address, count(*) as settlements
  from directory.settlements
 where chain = 'base'
   and block_number > (select indexed_block - 10000 from directory.chains where chain = 'base')
 group by facilitator_address
 order by settlements desc, facilitator_address
 limit 10`,
  },
  {
    question: 'How many agents are on how many chains, and how many of them are claimed?',
    sql: `select cardinality(chains) as chains, count(*) as agents, count(*) filter (where claimed) as claimed
  from directory.agents
 group by cardinality(chains)
 order by 1`,
  },
  {
    question: 'Which identities went from one agent to another?',
    sql: `select chain, erc8004_id, fid as from_fid, to_fid, released_at
  from directory.holdings
 where to_fid is not null and to_fid <> fid
 order by released_at desc, fid, chain, erc8004_id
 limit 20`,
  },
  {
    question: 'Which addresses are verified by more than one account?',
    sql: `select address, array_agg(fid order by fid) as fids
  from directory.addresses
 where ended_at is null
 group by address_bytes, address
having count(*) > 1
 order by address
 limit 20`,
  },
  {
    question: 'How old is what each chain shows?',
    sql: `select chain, indexed_block, head_block - indexed_block as blocks_behind, now() - indexed_at as age
  from directory.chains
 order by chain`,
  },
  {
    question: 'Who was paid over the last ten thousand blocks of Base, as addresses were verified then, and by whom?',
    sql: `select v.fid, s.payer_address, count(*) as settlements, sum(s.amount_usdc) as amount_usdc
  from directory.settlements s
  join directory.addresses v on v.address_bytes = s.recipient_bytes
                            and v.verified_at <= s.block_timestamp
                            and (v.ended_at is null or v.ended_at > s.block_timestamp)
 where s.chain = 'base' and s.counted
   and s.block_number > (select indexed_block - 10000 from directory.chains where chain = 'base')
 group by v.fid, s.payer_address
 order by settlements desc, v.fid, s.payer_address
 limit 20`,
  },
  {
    question: 'How many payers of agent 1 came back, by the month of their first payment?',
    sql: `select date_trunc('month', first_at, 'UTC') as first_month, count(*) as payers,
       count(*) filter (where last_at > first_at + interval '30 days') as after_30_days,
       count(*) filter (where last_at > first_at + interval '90 days') as after_90_days
  from (select p.payer_address, min(p.first_at) as first_at, max(p.last_at) as last_at
          from directory.addresses v
          join directory.payers p on p.recipient_bytes = v.address_bytes and p.counted
         where v.fid = 1 and v.ended_at is null
         group by p.payer_address) payer
 group by first_month
 order by first_month`,
  },
  {
    question: 'Whom did one address pay, and how much?',
    sql: `select recipient_address, chain, settlements, amount_usdc, last_at
  from directory.payers
 where payer_bytes = (select address_bytes from directory.addresses where fid = 1 order by address limit 1) and counted
 order by settlements desc, recipient_address, chain
 limit 20`,
  },
  {
    question: 'How many paid agent 1 on each of the last days?',
    sql: `select day, count(distinct payer_address) as payers, sum(settlements) as settlements
  from directory.agent_payers_daily
 where fid = 1 and counted
 group by day
 order by day desc
 limit 30`,
  },
  {
    question: 'Which agents answer on their own hosts and were never paid?',
    sql: `select a.fid, a.handle, max(s.last_alive_at) as last_alive_at
  from directory.agents a
  join directory.specs s on s.fid = a.fid and s.consecutive_failures = 0
 where a.settlements_all = 0
 group by a.fid, a.handle
 order by last_alive_at desc, a.fid
 limit 20`,
  },
  {
    question: 'How many identities did each chain get month by month?',
    sql: `select date_trunc('month', deployed_at, 'UTC') as month, chain, count(*) as identities
  from directory.registrations
 group by month, chain
 order by month desc, chain
 limit 100`,
  },
  {
    question: 'What do clients say of agent 1 that paid it before?',
    sql: `select tag1, count(*) as feedback, count(distinct client_address) as clients,
       percentile_disc(0.5) within group (order by value) as median
  from directory.agent_feedback
 where fid = 1 and paid and revoked_at is null
 group by tag1
 order by feedback desc, tag1
 limit 20`,
  },
  {
    question: 'What did all agents earn month by month, raw and without what they paid themselves?',
    sql: `select date_trunc('month', day, 'UTC') as month, kind, sum(amount_usdc) as amount_usdc,
       sum(filtered_amount_usdc) as filtered_amount_usdc
  from directory.income_daily
 group by month, kind
 order by month desc, kind
 limit 50`,
  },
  {
    question: 'Which services do documents name?',
    sql: `select lower(name) as service, count(*) as named, count(distinct (chain, erc8004_id)) as registrations
  from directory.services
 group by lower(name)
 order by registrations desc, service
 limit 20`,
  },
  {
    question: 'What does agent 1 say that it asks for?',
    sql: `select kind, resource, scheme, chain, min_amount_usd, max_amount_usd, pay_to, last_alive_at
  from directory.prices
 where fid = 1
 order by kind, url, place`,
  },
  {
    question: 'What is known of agent 1 elsewhere, and how old is it?',
    sql: `select source, last_success_at, last_outcome, failures
  from directory.sources
 where subject = 'fid:1'
 order by source`,
  },
]
