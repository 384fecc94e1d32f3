import type pg from 'pg'
import type { ChainName } from '../../config/chains.ts'
import type { BackupContents } from '../../db/backup/checklist.ts'
import { inTransaction } from '../../db/pool.ts'
import { certifiedRanges } from '../../db/queries/chain/audit.ts'
import { logHead, renewEpoch } from '../../db/queries/log/log.ts'
import { claimFaults, fidsWithoutEvent, logFaults } from '../../db/queries/server/backup.ts'
import { beginEpochRestored } from '../../db/queries/transparency/epoch.ts'
import { tallyStored } from '../backfill/verify.ts'

/** Most accounts that one finding names. */
const named = 10

/**
 * Gives the log of a restored database another epoch, begins another transparency log, and checks everything else against the
 * backup: the claims that were there when it was begun, the log, and the settlements of all certified blocks, read and summed
 * up again.
 * Returns what is wrong, one line each; `print` receives a line for everything that was checked.
 */
export async function checkRestored(
  pool: pg.Pool,
  contents: BackupContents,
  print: (line: string) => void,
): Promise<string[]> {
  const wrong: string[] = []
  const note = (what: string, problem: string | undefined) => {
    print(`${problem === undefined ? 'ok    ' : 'wrong '} ${what}${problem === undefined ? '' : `: ${problem}`}`)
    if (problem !== undefined) wrong.push(`${what}: ${problem}`)
  }
  await renewEpoch(pool)
  const begun = await inTransaction(pool, beginEpochRestored)
  if (begun !== undefined) print(`note   transparency log ${begun} begins: entries that were signed may be missing`)
  const { epoch, head } = await logHead(pool)
  note('the log has another epoch', epoch === contents.epoch ? epoch : undefined)
  note('the log goes as far as that of the backup', head < contents.head ? `${head} of ${contents.head}` : undefined)
  const { agents, numbers } = await logFaults(pool)
  note('the log tells of every agent', agents > 0 ? `${agents} agents` : undefined)
  note('no number of the log comes again', numbers > 0 ? `${numbers} numbers` : undefined)
  const missing = await fidsWithoutEvent(pool, contents.claims)
  const fids = missing.slice(0, named).join(', ')
  note(
    `claims of ${contents.claims.length} accounts are there`,
    missing.length > 0 ? `those of ${missing.length} are not, among them of fid ${fids}` : undefined,
  )
  const { loose, unnoted } = await claimFaults(pool)
  note('what became of claims is whole', loose + unnoted > 0 ? `${loose + unnoted} events are missing` : undefined)
  for (const { chain, by, firstBlock, lastBlock, ...certified } of await certifiedRanges(pool)) {
    const found = await inTransaction(pool, (client) =>
      tallyStored(client, chain as ChainName, { firstBlock, lastBlock }),
    )
    const isEqual =
      found?.settlements === certified.settlements &&
      String(found.amount) === certified.amount &&
      String(found.checksum) === certified.checksum
    const what = `${chain} ${firstBlock} to ${lastBlock} is as the ${by} certified`
    const problem = `${found?.settlements ?? 'other'} settlements, certified ${certified.settlements}, or others`
    note(what, isEqual ? undefined : problem)
  }
  return wrong
}
