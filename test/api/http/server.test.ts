import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { createHttpServer } from '../../../api/http/server.ts'

test('a request and its answer are Express’ from their birth, so that neither changes its prototype', async () => {
  const app = express()
  app.get('/', (req, res) => void res.json({ ip: req.ip, isOurs: req.app === app && res.app === app }))
  const born: unknown[] = []
  const server = createHttpServer(app).prependListener('request', (req, res) => {
    born.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(await answer.json()).toEqual({ ip: '127.0.0.1', isOurs: true })
  expect(born).toEqual([true, true])
  server.closeAllConnections()
  server.close()
})
