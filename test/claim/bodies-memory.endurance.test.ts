import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClaimStage, post, startClaimStage } from '../support/api/claims.ts'

let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

test('a thousand bodies of the largest kind leave no memory behind', async () => {
  const body = '{"method":'.concat('['.repeat(8_000), ']'.repeat(8_000), '}')
  const send = () =>
    Promise.all(Array.from({ length: 50 }, () => post(stage.api, body).then((answer) => answer.text())))
  await send()
  const before = heapInUse()
  for (let round = 0; round < 20; round++) await send()
  const grownMegabytes = (heapInUse() - before) / 1024 / 1024
  expect(grownMegabytes).toBeLessThan(8) // the bodies sent are 16 MB in all
})

/** Bytes on the heap that something still refers to. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
