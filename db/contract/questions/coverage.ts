import type { Subject } from './subject.ts'

export const coverage: Subject = {
  title: 'Coverage',
  about: 'How far the chains are indexed, and what that rests on.',
  samples: [
    {
      question: 'How old is what each chain shows?',
      growsWith: 'the chains',
      sql: `select chain, indexed_block, head_block - indexed_block as blocks_behind, now() - indexed_at as age
  from directory.chains
 order by chain`,
    },
    {
      question: 'What is indexed of each chain, by whom, and which command brings what is missing?',
      growsWith: 'the ranges that were loaded',
      sql: `select chain, from_block, to_block, by, state, missing_blocks, command
  from directory.coverage
 order by chain, from_block`,
    },
    {
      question: 'How far are the loads of backfills?',
      growsWith: 'the ranges that were loaded',
      sql: `select chain, from_block, to_block, loaded_blocks, settlements, amount_usdc, completed_at
  from directory.reservations
 order by completed_at desc nulls first, chain, from_block
 limit 20`,
    },
    {
      question: 'What was certified of Base, newest blocks first?',
      growsWith: 'the certificates of the chain',
      sql: `select kind, from_block, to_block, last_block_hash, settlements, amount_usdc, checksum, mended
  from directory.certificates
 where chain = 'base'
 order by to_block desc, from_block, kind, certified_at
 limit 20`,
    },
  ],
}
