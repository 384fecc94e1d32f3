import type { Askable } from './ask.ts'
import { checkOffline } from './checks.ts'
import { checkKnown } from './known-checkpoint.ts'
import type { CheckLine } from './line.ts'
import { checkOnline } from './online.ts'
import { type ClaimProof, misshapen } from './proof.ts'

/** All checks of what should be a proof: online lines replace those of the same name that had to stay open. */
export async function verify(proof: ClaimProof, askable: Askable): Promise<CheckLine[]> {
  const isWhole = misshapen(proof) === undefined
  const online = isWhole ? await checkOnline(proof, askable) : []
  const known = isWhole ? await checkKnown(proof, askable) : []
  const asked = new Set(online.map(({ name }) => name))
  return [...(await checkOffline(proof, askable.logKey)).filter(({ name }) => !asked.has(name)), ...known, ...online]
}

/** 0: everything held; 1: a check failed; 3: none failed, but something was not asked or did not answer. */
export function exitCodeOf(lines: readonly CheckLine[]): 0 | 1 | 3 {
  if (lines.some(({ outcome }) => outcome === 'failed')) return 1
  return lines.length > 0 && lines.every(({ outcome }) => outcome === 'held') ? 0 : 3
}
