import { setTimeout as delay } from 'node:timers/promises'

// A reader of the API, alone in its process, so that its times are the API's and not those of the process that loads the
// machine: node … bench/enrichment/api-reader.ts <url> <agents>. It asks for profiles, one after the other, until it gets a
// message, and answers with the milliseconds that they took: the median and the 95th of a hundred.

/** Milliseconds between requests. */
const pauseMs = 40

const [url, agents] = process.argv.slice(2)
let isOver = false
process.once('message', () => {
  isOver = true
})
process.on('disconnect', () => process.exit(1))

const took: number[] = []
for (let n = 0; !isOver; n++) {
  const begun = performance.now()
  const response = await fetch(`${url}/api/agent/${1 + (n % Number(agents))}`)
  await response.text()
  if (response.status !== 200) throw new Error(`the API answers ${response.status}`)
  took.push(performance.now() - begun)
  await delay(pauseMs)
}
took.sort((one, other) => one - other)
const at = (share: number) => took[Math.floor(share * (took.length - 1))]!
process.send?.({ p50: at(0.5), p95: at(0.95) }, () => process.exit(0))
