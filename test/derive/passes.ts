import type pg from 'pg'
import type { Derivation } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { derivePass } from '../../derive/pass.ts'
import { runIncome as sumIncome } from '../../enrichment/join/income.ts'

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
  const summed = await sumIncome({ pool, steps })
  return summed + (await derivePass({ ...named('rings'), batch: steps.rings }, { pool, now: () => new Date() }))
}

function named(kind: string): Derivation {
  return derivations.find((one) => one.kind === kind)!
}
