import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// The receivers of messages, alone in their process, so that its time is not counted as that of the job which sends them:
// node … bench/enrichment/receivers.ts <slow ms>. One server answers at every address of this machine, as the path says: quick,
// slow or never. Says its port when it listens, and ends with the process that began it.

const slowMs = Number(process.argv[2])
const answer = (response: ServerResponse) => response.writeHead(204).end()
const server = createServer((request, response) => {
  request.resume()
  if (request.url === '/quick') answer(response)
  if (request.url === '/slow') setTimeout(answer, slowMs, response)
})
server.listen(0, '0.0.0.0', 4_096, () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))
