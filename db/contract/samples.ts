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
]
