import { factSets } from '../../db/queries/exports/finished-days.ts'

/** A dataset that is served as files: the rows of a view of the schema `directory`, or the profiles of the log. */
export interface Dataset {
  readonly name: string
  /** The view its rows are of; `log`: whole profiles as lines of /data/log.ndjson. */
  readonly from: string
  /** Columns of the view by which rows are sorted, as in `order by`; empty for `log`. */
  readonly order: string
  /** days: append-only facts, in files by chain and UTC day; snapshot: current state, written whole once a UTC day. */
  readonly by: 'days' | 'snapshot'
  readonly about: string
  /** Licence of its files, where they have one of their own. */
  readonly licence?: Licence
}

/** A licence, as data packages name it. */
export interface Licence {
  readonly name: string
  readonly path: string
  readonly title: string
}

/** Nobody has to ask, or to name anybody, to block whom this directory flags. */
const cc0: Licence = {
  name: 'CC0-1.0',
  path: 'https://creativecommons.org/publicdomain/zero/1.0/',
  title: 'CC0 1.0 Universal',
}

/** All served datasets. The snapshots of one day come from one snapshot of the database. */
export const datasets: readonly Dataset[] = [
  {
    name: 'profiles',
    from: 'log',
    order: '',
    by: 'snapshot',
    about: 'Whole profiles, as the log has them: what a mirror begins with.',
  },
  { name: 'agents', from: 'agents', order: 'fid', by: 'snapshot', about: 'All agents.' },
  {
    name: 'registrations',
    from: 'registrations',
    order: 'chain, erc8004_id',
    by: 'snapshot',
    about: 'Every ERC-8004 identity, whoever has it.',
  },
  {
    name: 'income',
    from: 'income',
    order: 'fid, hour, chain, recipient_address, kind, flag, x402',
    by: 'snapshot',
    about: 'What agents were paid in each hour, with what is known of the payer.',
  },
  {
    name: 'payments',
    from: 'payments',
    order: 'chain, block_number, log_index',
    by: 'snapshot',
    about: 'Payments of every kind but settlements: by Permit2, channels, escrows, jobs and forwarders, and refunds.',
  },
  {
    name: 'demand',
    from: 'demand',
    order: 'fid, chain',
    by: 'snapshot',
    about: 'How many pay each agent, and how many of them come back.',
  },
  {
    name: 'flagged_addresses',
    from: 'flagged_addresses',
    order: 'chain, address, flag',
    by: 'snapshot',
    about: 'Addresses whose payments to agents are no filtered income, with what shows it.',
    licence: cc0,
  },
  {
    name: 'claims',
    from: 'claims',
    order: 'fid, method, nonce',
    by: 'snapshot',
    about: 'Claims with what was signed or published.',
  },
  {
    name: 'tags',
    from: 'tags',
    order: 'fid, source, address, slug, chain',
    by: 'snapshot',
    about: 'Labels that others gave to addresses of agents.',
  },
  {
    name: 'identities',
    from: 'identities',
    order: 'fid, platform, identity',
    by: 'snapshot',
    about: 'Names and accounts of agents elsewhere.',
  },
  {
    name: 'specs',
    from: 'specs',
    order: 'fid, kind, url',
    by: 'snapshot',
    about: 'Machine-readable descriptions on hosts of agents.',
  },
  ...(Object.keys(factSets) as (keyof typeof factSets)[]).map(
    (name): Dataset => ({
      name,
      from: name,
      order: 'block_number, log_index',
      by: 'days',
      about: {
        settlements: 'Gasless payments in USDC, whoever received them.',
        feedback: 'Feedback on registrations.',
      }[name],
    }),
  ),
]
