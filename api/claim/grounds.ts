import { groundFacts } from '../../db/queries/join/grounds.ts'
import { createGroundsJudge, type GroundsJudge, type GroundsWorld } from '../../social/grounds/judge.ts'
import type { Verification } from '../../social/social-index.ts'
import { contradictionOf } from '../../social/witness.ts'
import type { ClaimWorld } from './proof-method.ts'

/** What the messages behind a claim are judged against when it is accepted: the other hubs are asked right away. */
export function groundsWorld({
  database,
  registries,
  wallets,
  verificationProof,
  witnesses,
  now,
}: ClaimWorld): GroundsWorld {
  return {
    registries,
    wallets,
    verificationProof,
    now,
    facts: groundFacts(database),
    contradiction: (of) => contradictionOf(witnesses, of, new Date(now())),
  }
}

export function judgeOf(fid: number, verifications: readonly Verification[], world: ClaimWorld): GroundsJudge {
  return createGroundsJudge(fid, verifications, groundsWorld(world))
}
