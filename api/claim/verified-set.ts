import type { Hex } from 'viem'
import { NoAnswer } from '../../hosts/no-answer.ts'
import type { Verification } from '../../social/social-index.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { judgeVerification } from '../../trust/verdict.ts'
import type { ClaimWorld } from './proof-method.ts'

/**
 * The FID's verifications as the hub gives them now. Throws NoAnswer, also when one of the messages is forged: a hub
 * that serves one is not believed about the others either.
 */
export async function verificationsOf(
  { social, now }: Pick<ClaimWorld, 'social' | 'now'>,
  fid: number,
): Promise<readonly Verification[]> {
  const verifications = await social.verifications(fid)
  for (const { address, message } of verifications) {
    const asked = { fid, address, now: new Date(now()) }
    const { verdict } = await judgeVerification(readHubMessage(message), asked)
    if (verdict === 'forged') throw new NoAnswer('bad_answer', `a forged verification of ${address} for fid ${fid}`)
  }
  return verifications
}

/** The FID's verified addresses as the hub gives them now, lowercase, sorted. Throws NoAnswer. */
export async function verifiedSet(world: Pick<ClaimWorld, 'social' | 'now'>, fid: number): Promise<Hex[]> {
  return addressesOf(await verificationsOf(world, fid))
}

export function addressesOf(verifications: readonly Verification[]): Hex[] {
  return verifications.map(({ address }) => address as Hex).sort()
}
