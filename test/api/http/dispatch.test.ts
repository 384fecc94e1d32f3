import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler } from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dispatch } from '../../../api/dispatch.ts'

const paths = [
  '/api/agent/:fid',
  '/api/agent/:fid/uptime',
  '/api/stats',
  '/feed.atom',
  '/feed/:name',
  '/feed/events/:n',
]
let server: ReturnType<ReturnType<typeof express>['listen']>
beforeAll(async () => {
  const dispatch = new Dispatch()
  for (const path of paths) {
    dispatch.at(path).get(path, (req, res) => {
      if (req.query.fail !== undefined) throw new Error('failed')
      res.send(`${path} ${JSON.stringify(req.params)}`)
    })
    dispatch.at(path).all(path, (_req, res) => void res.send(`not for ${path}`))
  }
  const tell: ErrorRequestHandler = (error, _req, res, _next) => void res.send(`error ${error.message}`)
  const app = express().enable('case sensitive routing')
  app.use(dispatch.handle)
  app.use((req, res) => void res.send(`none ${req.url}`))
  app.use(tell)
  server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

test.for([
  ['/api/agent/7', '/api/agent/:fid {"fid":"7"}'],
  ['/api/agent/7/', '/api/agent/:fid {"fid":"7"}'],
  ['/api/agent/7/uptime?days=3', '/api/agent/:fid/uptime {"fid":"7"}'],
  ['/api/stats', '/api/stats {}'],
  ['/api/stats/', '/api/stats {}'],
  ['/feed.atom', '/feed.atom {}'],
  ['/feed/agents.atom', '/feed/:name {"name":"agents.atom"}'],
  ['/feed/events', '/feed/:name {"name":"events"}'],
  ['/feed/events/3', '/feed/events/:n {"n":"3"}'],
  ['/api/%61gent/7', 'none /api/%61gent/7'],
  ['/API/stats', 'none /API/stats'],
  ['/api/agent/7/nothing?x=1', 'none /api/agent/7/nothing?x=1'],
  ['/api', 'none /api'],
  ['/', 'none /'],
  ['//api/stats', 'none //api/stats'],
  ['/api/stats?fail', 'error failed'],
] as const)('%s is met by the route that it is for', async ([path, answer]) => {
  const { port } = server.address() as AddressInfo
  expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe(answer)
})

test('a path whose encoding is broken is an error, and another method meets what its path says to it', async () => {
  const { port } = server.address() as AddressInfo
  const ask = async (path: string, method = 'GET') =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method })).text()
  expect(await ask('/api/agent/%E0')).toMatch(/^error Failed to decode param/)
  expect(await ask('/feed/events/3', 'DELETE')).toBe('not for /feed/events/:n')
})
