import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../../db/pool.ts'
import type { DevChain } from '../../../devnet/chain/chain.ts'
import { until } from '../until.ts'
import { cleanTables } from './index-chain.ts'
import { readChainTables } from './oracle.ts'
import type { TestProcessor } from './processor.ts'
import type { SettingsOptions } from './settings.ts'

/** Variables of a processor that keeps the settlements of verified addresses alone. */
export const verifiedScope = { SETTLEMENT_SCOPE: 'verified' }

/** Writes a verified address as the enrichment job does, for an account that a claim has put into the directory. */
export async function verify(db: Queryable, fid: number, address: string): Promise<void> {
  await db.query(
    `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, verified_addresses)
     values ($1, 'eip191', 'test', '{}', '', '', now(), '{}') on conflict do nothing`,
    [fid],
  )
  await verifyStranger(db, fid, address)
}

/** Writes a verified address of an account without any other row. */
export async function verifyStranger(db: Queryable, fid: number, address: string): Promise<void> {
  await db.query('insert into verified_address (fid, address, verified_at) values ($1, $2, clock_timestamp())', [
    fid,
    bytes(address),
  ])
}

export async function unverify(db: Queryable, fid: number, address: string): Promise<void> {
  await db.query(
    'update verified_address set ended_at = clock_timestamp() where fid = $1 and address = $2 and ended_at is null',
    [fid, bytes(address)],
  )
}

/** Resolves once the chain's processor has noticed who is verified. */
export async function untilNoticed(db: Queryable, chain: ChainName, address: string, known: boolean): Promise<void> {
  await until(`${address} is ${known ? 'known' : 'forgotten'}`, async () => {
    const { rows } = await db.query(
      `select from known_recipient where chain = $1 and address = $2 and ended_block is null`,
      [chain, bytes(address)],
    )
    return rows.length === (known ? 1 : 0)
  })
}

/** Stored settlements that pay one of these addresses; without a list, all settlements. */
export async function settlementsTo(
  db: Queryable,
  chain: ChainName,
  recipients?: readonly string[],
): Promise<string[]> {
  return keepTo((await readChainTables(db, chain)).settlement, recipients)
}

/** Settlements to these addresses in a clean index of the chain as it is now. */
export async function cleanSettlementsTo(
  chain: DevChain,
  recipients: readonly string[],
  options: SettingsOptions = {},
) {
  return keepTo((await cleanTables(chain, options)).settlement, recipients)
}

export function keepTo(settlements: readonly string[], recipients?: readonly string[]): string[] {
  const wanted = new Set(recipients?.map((address) => `\\x${address.slice(2).toLowerCase()}`))
  return settlements.filter((row) => !recipients || wanted.has(JSON.parse(row).recipient))
}

/** Resolves once the stored settlements to these addresses, or all of them, are the expected ones. */
export async function untilSettled(
  db: Queryable,
  chain: ChainName,
  expected: readonly string[],
  { recipients, processor }: { recipients?: readonly string[]; processor: TestProcessor },
): Promise<void> {
  let found: string[] = []
  await until(
    'the settlements are those of a clean index',
    async () => {
      found = await settlementsTo(db, chain, recipients)
      return found.join('\n') === expected.join('\n')
    },
    {
      everyMs: 250,
      explain: () => {
        const surplus = found.filter((row) => !expected.includes(row))
        const missing = expected.filter((row) => !found.includes(row))
        return `too many: ${surplus.slice(0, 3).join('\n')}\nmissing: ${missing.slice(0, 3).join('\n')}\n${processor.output()}`
      },
    },
  )
}

function bytes(address: string): Buffer {
  return Buffer.from(address.slice(2), 'hex')
}
