import { busiestChain, chainOf } from '../../config/chains.ts'
import { keptSource } from '../../test/doubles/portal/kept-source.ts'
import { startPortal } from '../../test/doubles/portal/server.ts'
import { longPaymentChain, mainnetLikeChain } from '../payment-chain.ts'

// The Portal of a benchmark in a process of its own: node bench/portal/main.ts <chunks> <folder for finished answers>
// [<first block of a chain like the real one>].
// Sends its address to the process that started it, and ends with it.

const [chunks = '', folder = '', firstBlock] = process.argv.slice(2)
const count = Number(chunks)
const chain = firstBlock === undefined ? longPaymentChain(count) : mainnetLikeChain(Number(firstBlock), count)
const portal = await startPortal({
  datasets: { [chainOf(busiestChain).dataset]: keptSource(chain.source, folder) },
})
process.on('disconnect', () => process.exit(0))
process.send?.(portal.url)
