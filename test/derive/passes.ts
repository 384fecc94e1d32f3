import type pg from 'pg'
import type { Derivation } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { derivePass } from '../../derive/pass.ts'
import { sumIncome } from '../../enrichment/join/income.ts'

/** Most keys and hours of a pass. */
interface Steps {
  readonly changes: number
  readonly rings: number
  readonly hours: number
  readonly payments: number
}

const whole: Steps = { changes: 100, rings: 50, hours: 500, payments: 50_000 }

/** One bounded pass over everything that income is made of. Returns how much was done; zero: it is what the facts say. */
export async function runIncome({ pool, steps = whole }: { pool: pg.Pool; steps?: Steps }): Promise<number> {
  let work = 0
  for (const kind of ['wallets', 'income']) work += await pass(pool, kind, steps.changes)
  work += await pass(pool, 'rings', steps.rings)
  return work + (await sumIncome(pool, steps))
}

function pass(pool: pg.Pool, kind: string, batch: number): Promise<number> {
  const named: Derivation = derivations.find((one) => one.kind === kind)!
  return derivePass({ ...named, batch }, { pool, now: () => new Date() })
}
