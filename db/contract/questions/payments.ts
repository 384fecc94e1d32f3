import type { Subject } from './subject.ts'

export const payments: Subject = {
  title: 'Payments',
  about:
    'Settlements as they are on the chains, and sums of them. What asks `agent_settlements` or `agent_payers_daily` for ' +
    'all payments of an agent reads each: of agent 1 here, counting them took 11 seconds and the payers of each day 31, so ' +
    'that a reader’s limit of ten seconds is met from 4.4 and 1.6 million payments on. The questions below read sums, and ' +
    'single settlements only of the newest blocks or of agents that are paid less.',
  samples: [
    {
      question: 'How often was agent 1 paid, to the block, and how much?',
      growsWith: 'the hours in which it was paid, and its payments of the newest blocks',
      sql: `select sum(settlements) as settlements, sum(amount_usdc) as amount_usdc
  from (select settlements, amount_usdc
          from directory.agent_settlements_daily
         where fid = 1 and counted
         union all
        select newer.*
          from directory.chains c
         cross join lateral (select count(*), sum(s.amount_usdc)
                               from directory.agent_settlements s
                              where s.fid = 1 and s.counted
                                and s.chain = c.chain and s.block_number > c.rolled_up_block) newer) paid`,
    },
    {
      question: 'What did agent 1 receive day by day?',
      growsWith: 'the hours in which it was paid',
      sql: `select day, sum(settlements) as settlements, sum(amount_usdc) as amount_usdc
  from directory.agent_settlements_daily
 where fid = 1 and counted
 group by day
 order by day desc
 limit 30`,
    },
    {
      question: 'Who pays agent 1 most?',
      growsWith: 'its payers',
      sql: `select p.payer_address, sum(p.settlements) as settlements, sum(p.amount_usdc) as amount_usdc
  from directory.addresses v
  join directory.payers p on p.recipient_bytes = v.address_bytes and p.counted
 where v.fid = 1 and v.ended_at is null
 group by p.payer_address
 order by settlements desc, p.payer_address
 limit 10`,
    },
    {
      question: 'How many paid agent 1 on Base, day by day over the last 300,000 blocks, which are a week?',
      growsWith: 'its payments in these blocks',
      sql: `select date_trunc('day', block_timestamp, 'UTC') as day, count(distinct payer_address) as payers,
       count(*) as settlements
  from directory.agent_settlements
 where fid = 1 and counted and chain = 'base'
   and block_number > (select indexed_block - 300000 from directory.chains where chain = 'base')
 group by day
 order by day desc`,
    },
    {
      question: 'How many paid agent 2, which was paid less often, on each of the last 30 days?',
      growsWith: 'its payments in these days',
      sql: `select day, count(distinct payer_address) as payers, sum(settlements) as settlements
  from directory.agent_payers_daily
 where fid = 2 and counted and day > now() - interval '30 days'
 group by day
 order by day desc
 limit 30`,
    },
    {
      question: 'How many payers of agent 1 came back, by the month of their first payment?',
      growsWith: 'its payers',
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
      question: 'Which payers do agents 1 and 2 share, and how often did they pay each of them?',
      growsWith: 'the payers of both',
      sql: `select payer_address, coalesce(sum(settlements) filter (where fid = 1), 0) as to_agent_1,
       coalesce(sum(settlements) filter (where fid = 2), 0) as to_agent_2, sum(amount_usdc) as amount_usdc
  from (select v.fid, p.payer_address, p.settlements, p.amount_usdc
          from directory.addresses v
          join directory.payers p on p.recipient_bytes = v.address_bytes and p.counted
         where v.fid in (1, 2) and v.ended_at is null) paid
 group by payer_address
having count(distinct fid) = 2
 order by sum(settlements) desc, payer_address
 limit 20`,
    },
    {
      question: 'Whom did one address pay, and how much?',
      growsWith: 'those whom it paid',
      sql: `select recipient_address, chain, settlements, amount_usdc, last_at
  from directory.payers
 where payer_bytes = (select address_bytes from directory.addresses where fid = 1 order by address limit 1) and counted
 order by settlements desc, recipient_address, chain
 limit 20`,
    },
    {
      question: 'Which settlements did one address receive, whoever it is?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select chain, block_number, tx_hash, payer_address, amount_usdc
  from directory.settlements
 where recipient_bytes = (select address_bytes from directory.addresses where fid = 1 order by address limit 1)
 order by block_number desc
 limit 20`,
    },
    {
      question: 'Which other payments did one address receive last, by Permit2, channels, escrows and jobs?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select block_timestamp, chain, tx_hash, kind, payer_address, base_units, decimals, amount_usdc
  from directory.payments
 where recipient_bytes = (select address_bytes from directory.addresses where fid = 1 order by address limit 1)
 order by block_timestamp desc, chain, block_number, log_index
 limit 20`,
    },
    {
      question: 'What did one address receive day by day, whoever it is?',
      growsWith: 'the hours in which it was paid',
      sql: `select day, chain, sum(settlements) as settlements, sum(amount_usdc) as amount_usdc
  from directory.settlements_daily
 where recipient_bytes = (select address_bytes from directory.addresses where fid = 1 order by address limit 1) and counted
 group by day, chain
 order by day desc, chain
 limit 30`,
    },
    {
      question: 'How much was settled on each chain in each hour of the last week?',
      growsWith: 'the recipients of each hour of the week',
      sql: `select hour, chain, sum(settlements) as settlements, sum(amount_usdc) as amount_usdc
  from directory.settlements_hourly
 where hour > now() - interval '7 days' and counted
 group by hour, chain
 order by hour desc, chain`,
    },
    {
      question: 'Who was paid over the last ten thousand blocks of Base, as addresses were verified then, and by whom?',
      growsWith: 'the settlements in these blocks, and the number of verified addresses',
      sql: `select v.fid, s.payer_address, count(*) as settlements, sum(s.amount_usdc) as amount_usdc
  from directory.settlements s
  join directory.addresses v on v.address_bytes = s.recipient_bytes
                            and v.counts_from <= s.block_timestamp
                            and (v.ended_at is null or v.ended_at > s.block_timestamp)
 where s.chain = 'base' and s.counted
   and s.block_number > (select indexed_block - 10000 from directory.chains where chain = 'base')
 group by v.fid, s.payer_address
 order by settlements desc, v.fid, s.payer_address
 limit 20`,
    },
    {
      question: 'Who broadcasts the settlements of Base, over the last ten thousand blocks?',
      growsWith: 'the settlements in these blocks',
      sql: `select facilitator_address, count(*) as settlements
  from directory.settlements
 where chain = 'base'
   and block_number > (select indexed_block - 10000 from directory.chains where chain = 'base')
 group by facilitator_address
 order by settlements desc, facilitator_address
 limit 10`,
    },
    {
      question: 'Which facilitators settled most?',
      growsWith: 'the accounts of facilitators',
      sql: `select name, count(distinct sender_address) as accounts, sum(settlements) as settlements, sum(amount_usdc) as amount_usdc,
       max(last_used_at) as last_used_at
  from directory.facilitators
 group by name
 order by amount_usdc desc, name
 limit 20`,
    },
    {
      question: 'What did agent 1 earn day by day, and how much of it through known facilitators?',
      growsWith: 'the hours in which it was paid',
      sql: `select day, sum(payments) as payments, sum(amount_usdc) as amount_usdc,
       sum(filtered_amount_usdc) as filtered_amount_usdc, sum(x402_amount_usdc) as x402_amount_usdc
  from directory.income_daily
 where fid = 1
 group by day
 order by day desc
 limit 30`,
    },
    {
      question: 'What was settled to the addresses of agent 1 in each month, and what of all its payments is income?',
      growsWith: 'the hours in which it was paid',
      sql: `select month, sum(settled_usdc) as settled_usdc, sum(paid_usdc) as paid_usdc, sum(income_usdc) as income_usdc
  from (select date_trunc('month', day, 'UTC') as month, amount_usdc as settled_usdc, 0 as paid_usdc, 0 as income_usdc
          from directory.agent_settlements_daily
         where fid = 1 and counted
         union all
        select date_trunc('month', day, 'UTC'), 0, amount_usdc, filtered_amount_usdc
          from directory.income_daily
         where fid = 1) sums
 group by month
 order by month desc
 limit 12`,
    },
    {
      question: 'What did all agents earn month by month, raw and without what they paid themselves?',
      growsWith: 'the hours in which each agent was paid',
      sql: `select date_trunc('month', hour, 'UTC') as month, kind, sum(amount_usdc) as amount_usdc,
       sum(amount_usdc) filter (where filtered) as filtered_amount_usdc
  from directory.income
 where not passed_on
 group by month, kind
 order by month desc, kind
 limit 50`,
    },
    {
      question: 'To which agents do most payers come back?',
      growsWith: 'the agents that were paid',
      sql: `select fid, repeat_payers_30d, payers, payers_returned, median_seconds_between_payments, largest_payer_share
  from directory.demand
 where chain is null
 order by repeat_payers_30d desc, fid
 limit 20`,
    },
    {
      question: 'Which addresses are flagged on Base, why, and since when?',
      growsWith: 'the own addresses of agents, and the rings they are in',
      sql: `select address, flag, since, evidence
  from directory.flagged_addresses
 where chain = 'base'
 order by since desc, address, flag
 limit 50`,
    },
  ],
}
