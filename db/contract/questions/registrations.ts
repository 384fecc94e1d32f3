import type { Subject } from './subject.ts'

export const registrations: Subject = {
  title: 'Registrations',
  about: 'ERC-8004 identities: who holds them, and what they and their documents say.',
  samples: [
    {
      question: 'How many identities did each chain get month by month?',
      growsWith: 'the number of registrations',
      sql: `select date_trunc('month', deployed_at, 'UTC') as month, chain, count(*) as identities
  from directory.registrations
 group by month, chain
 order by month desc, chain
 limit 100`,
    },
    {
      question: 'Which identities went from one agent to another?',
      growsWith: 'the number of holdings',
      sql: `select chain, erc8004_id, fid as from_fid, to_fid, released_at
  from directory.holdings
 where to_fid is not null and to_fid <> fid
 order by released_at desc, fid, chain, erc8004_id
 limit 20`,
    },
    {
      question: 'Which identities of Base changed hands last?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select erc8004_id, from_address, to_address, block_timestamp, tx_hash
  from directory.transfers
 where chain = 'base' and from_address is not null and to_address is not null
 order by block_timestamp desc, block_number desc, log_index desc
 limit 20`,
    },
    {
      question: 'Who held an identity of agent 1, from when to when?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select chain, erc8004_id, holder_address, held_from, held_to
  from directory.tenures
 where (chain, erc8004_id) = (select chain, erc8004_id
                                from directory.holdings
                               where fid = 1
                               order by acquired_at, chain, erc8004_id
                               limit 1)
 order by held_from, holder_address`,
    },
    {
      question: 'Which identities did agent 1 hold a week ago?',
      growsWith: 'what the agent held since',
      sql: `select chain, erc8004_id, held_by, held_from, held_to
  from directory.agent_as_of(fid => 1, at => now() - interval '7 days')
 order by chain, erc8004_id`,
    },
    {
      question: 'How many held identities of Base a week ago, and how many did they hold?',
      growsWith: 'the registrations of the chain',
      sql: `select count(distinct holder_address) as holders, count(*) as identities
  from directory.holders_as_of('base', now() - interval '7 days')`,
    },
    {
      question: 'What is written on chain of the identities of agent 1?',
      growsWith: 'nothing but the rows that it shows',
      sql: `select m.chain, m.erc8004_id, m.key, m.value, m.block_timestamp
  from directory.holdings h
  join directory.registration_metadata m using (chain, erc8004_id)
 where h.fid = 1 and h.reason is null
 order by m.chain, m.erc8004_id, m.key`,
    },
    {
      question: 'What happened to identity 1 on Base, event by event?',
      growsWith: 'the events of the identity',
      sql: `select event, args, block_timestamp, tx_hash
  from directory.registry_events
 where chain = 'base' and erc8004_id = 1
 order by block_number desc, log_index desc
 limit 20`,
    },
    {
      // To count the registrations behind the names, all of them would be sorted: five times as long.
      question: 'How often do documents name each service?',
      growsWith: 'the number of registrations; 400,000 take five seconds on two cores with a load of 24',
      sql: `select lower(name) as service, count(*) as named
  from directory.services
 group by lower(name)
 order by named desc, service
 limit 20`,
    },
    {
      question: 'Which trust models do documents claim?',
      growsWith: 'the number of registrations',
      sql: `select model, count(*) as registrations
  from directory.trust_models
 group by model
 order by registrations desc, model
 limit 20`,
    },
  ],
}
