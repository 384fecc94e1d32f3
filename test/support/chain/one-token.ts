import { afterEach, beforeEach } from 'vitest'
import { wallet } from './rows.ts'
import { type Scene, startScene } from './scene.ts'

// Deeds on one registration and on verifications of addresses; each takes a minute of the scene's clock.

export const token = { chain: 'base', id: 0 } as const
export const first = wallet(1)
export const second = wallet(2)
export const stranger = wallet(9)

/** Scene of the running test, with the accounts 7 and 8. */
export let scene: Scene

/** Gives each test of the file a scene of its own. */
export function setScenes() {
  beforeEach(async () => {
    scene = await startScene()
    scene.register(7, 8)
  })
  afterEach(() => scene.stop())
}

export const minute = () => scene.clock.pass(60_000)
export const mint = (to: string) => scene.rows.transfer(token, null, to, minute())
export const move = (from: string, to: string | null) => scene.rows.transfer(token, from, to, minute())

/** Verifies an address for a FID; returns the time, in milliseconds since 1970. */
export function verify(fid: number, address: string): number {
  const at = minute()
  scene.hub.state.addVerification(fid, address)
  return at.getTime()
}
