import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { followFile, mirrorFile } from '../../client/mirror.ts'

const service = 'https://api.agents.example'
const missing = () => new Response('{"error":"ERR_NOT_FOUND"}', { status: 404 })

/** A service that has the first page of its log and no other, and a record of the places it was asked for. */
function serviceOfOnePage() {
  const asked: string[] = []
  const send: typeof fetch = async (input) => {
    const { searchParams } = new URL(String(input))
    const place = searchParams.get('since') ?? ''
    if (asked.push(place) > 5) throw new Error('it begins again and again')
    if (place !== '') return missing()
    return new Response('{"seq":1,"kind":"delist","fid":1}\n', {
      headers: { 'X-Log-Epoch': 'bbbbbbbb', Link: `<${service}/data/log.ndjson?since=bbbbbbbb-1>; rel="next"` },
    })
  }
  return { asked, directory: new AgentDirectory(service, { fetch: send, retries: 0 }) }
}

async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'mirror-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('a new mirror whose log misses a page is an error, and no file', async () => {
  const folder = await temporaryFolder()
  const { asked, directory } = serviceOfOnePage()
  const failed = mirrorFile(directory, join(folder, 'agents.json'), 'log')
  await expect(failed).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(asked).toEqual(['', 'bbbbbbbb-1'])
  expect(await readdir(folder)).toEqual([])
})

test.for([
  ['the profile twice', '"profile":{"fid":1,"bio":"forged"},"profile":{"fid":1,"bio":"true"}', 'profile'],
  ['the profile again, in other letters', '"profile":{"fid":1},"pro\\u0066ile":{"fid":1,"bio":"true"}', 'profile'],
  ['a name of it twice', '"profile":{"fid":1,"handle":"true","handle":"forged"}', 'handle'],
  ['a name in it twice', '"profile":{"fid":1,"agents":[{"a":1},{"a":1,"a":2}]}', 'a'],
] as const)('a line of the log with %s is an error, and no file', async ([, members, name]) => {
  const folder = await temporaryFolder()
  const send: typeof fetch = async () =>
    new Response(`{"seq":1,"kind":"upsert","fid":1,${members}}\n`, { headers: { 'X-Log-Epoch': 'bbbbbbbb' } })
  const directory = new AgentDirectory(service, { fetch: send, retries: 0 })
  await expect(mirrorFile(directory, join(folder, 'agents.json'), 'log')).rejects.toThrow(`the name "${name}" twice`)
  expect(await readdir(folder)).toEqual([])
})

test('a mirror of another log starts over once, and keeps its file when that fails', async () => {
  const file = join(await temporaryFolder(), 'agents.json')
  const kept = '{"place":"aaaaaaaa-7","agents":{\n"1":{"fid":1}\n}}\n'
  await writeFile(file, kept)
  const { asked, directory } = serviceOfOnePage()
  await expect(mirrorFile(directory, file, 'log')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(asked).toEqual(['aaaaaaaa-7', '', 'bbbbbbbb-1'])
  expect(await readFile(file, 'utf8')).toBe(kept)
})

test('a mirror whose log goes on, but whose stream does not exist, ends with what the service says', async () => {
  const file = join(await temporaryFolder(), 'agents.json')
  let streams = 0
  const send: typeof fetch = async (input) => {
    if (String(input).endsWith('/data/log.sse')) return ++streams > 3 ? Promise.reject(new Error('again')) : missing()
    return new Response('{"seq":1,"kind":"delist","fid":1}\n', { headers: { 'X-Log-Epoch': 'bbbbbbbb' } })
  }
  const following = followFile(new AgentDirectory(service, { fetch: send }), file, 'log', () => {})
  await expect(following).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(streams).toBe(1)
})
