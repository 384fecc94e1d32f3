import { type Hex, hexToBytes } from 'viem'
import type { Outcome } from '../envelope.ts'

/** One check and its outcome. `unknown`: it needs a chain or hub that was not asked; `unanswered`: asking it failed. */
export interface CheckLine {
  readonly name: string
  readonly outcome: Outcome | 'unanswered'
  /** Why the check failed, whom to ask for it, or the error instead of an answer. */
  readonly detail?: string
}

/** The line of a check; one that throws has failed. */
export async function line(name: string, holds: () => boolean | Promise<boolean>): Promise<CheckLine> {
  try {
    return { name, outcome: (await holds()) ? 'held' : 'failed' }
  } catch (error) {
    return { name, outcome: 'failed', detail: (error as Error).message.split('\n')[0] ?? '' }
  }
}

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex as Hex)
}
