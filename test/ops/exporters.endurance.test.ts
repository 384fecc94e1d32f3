import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freePort } from '../../ops/ports.ts'
import { startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { debianExporters } from './exporters.ts'

type Exporter = keyof typeof debianExporters

/** What each exporter needs in its environment to find what it watches. */
const environments: Readonly<Record<Exporter, () => Promise<Record<string, string>>>> = {
  postgres: async () => ({ DATA_SOURCE_NAME: `${inject('databaseServer')}?sslmode=disable` }),
  node: async () => ({}),
  redis: async () => {
    const redis = await startRedis()
    onTestFinished(redis.stop)
    return { REDIS_ADDR: redis.url }
  },
}

test.each(Object.keys(environments) as Exporter[])(
  '%s_exporter reports what rules and dashboards read',
  async (name) => {
    const command = `prometheus-${name}-exporter`
    if (spawnSync(command, ['--version']).error) return console.warn(`${command} was not run: it is not on the path`)
    const scraped = seriesOf(await scrape(command, await environments[name]()))
    expect(debianExporters[name]).not.toEqual({})
    for (const [series, labels] of Object.entries(debianExporters[name]))
      expect(scraped.get(series), series).toEqual(expect.arrayContaining([...labels]))
  },
)

/** Runs an exporter until it has answered once; returns its page of metrics. */
async function scrape(command: string, env: Record<string, string>): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(command, [`--web.listen-address=${address}`], { env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
  try {
    let page = ''
    await until(`${command} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${command} ended: ${output}`)
      const answer = await fetch(`http://${address}/metrics`).catch(() => undefined)
      page = (await answer?.text()) ?? ''
      return answer?.status === 200
    })
    return page
  } finally {
    if (child.exitCode === null) {
      child.kill()
      await once(child, 'exit')
    }
  }
}

/** Label names by series, of a sample of each in Prometheus's text format. */
function seriesOf(page: string): Map<string, string[]> {
  const samples = page.matchAll(/^(\w+)(?:\{(.*)\})? /gm)
  return new Map(
    [...samples].map(([, name, labels = '']) => [
      name as string,
      [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label as string),
    ]),
  )
}
