import type { WorldAgent } from './registrations-world.ts'

// What the filters of agent0-sdk's searches mean, told of objects: what it finds can be counted in them.

export type Fits = (agent: WorldAgent) => unknown
export const idOf = ({ chainId, id }: WorldAgent) => `${chainId}:${id}`
export const standing = ({ feedback }: WorldAgent) => feedback.filter(({ revokedAt }) => revokedAt === null)
export const endpoint = ({ file }: WorldAgent, name: string) =>
  file?.services.find((service) => service.name.toLowerCase() === name)?.endpoint.toLowerCase() ?? null
export const says = (text: string | null | undefined, part: string) => text?.toLowerCase().includes(part)
export const declared = ({ file }: WorldAgent, of: string, list: string) =>
  file?.services.filter(({ name }) => name.toLowerCase() === of).flatMap((service) => service.declared?.[list] ?? []) ??
  []
export const value = ({ value: units, decimals }: { value: number; decimals: number }) => units / 10 ** decimals
export const mean = (given: readonly { value: number; decimals: number }[]) =>
  given.reduce((sum, one) => sum + value(one), 0) / given.length
/** Seconds of the last event of either registry. */
export const movedAt = ({ updatedAt, feedback }: WorldAgent) =>
  Math.max(updatedAt, ...feedback.map(({ createdAt, revokedAt }) => revokedAt ?? createdAt))

/** A registration that all of the searches below find. */
interface Sought {
  readonly agent: WorldAgent
  readonly client: string
}

/** A search by each filter of agent0-sdk, for what one registration is. */
export function searchesFor({ agent, client }: Sought): [object, Fits][] {
  const { id, owner, wallet, file, operators, chain, createdAt } = agent
  const moved = movedAt(agent)
  const operator = operators[0] as string
  const list = (of: string, name: string) => declared(agent, of, name)
  const has = (of: string, name: string) => (one: WorldAgent) =>
    declared(one, of, name).includes(list(of, name)[0] as string)
  const contains = (of: string) => (one: WorldAgent) => says(endpoint(one, of), endpoint(agent, of) as string)
  return [
    [{}, () => true],
    [
      { chains: [agent.chainId], agentIds: [idOf(agent), `${agent.chainId}:999999`] },
      (one) => one.id === id && one.chain === chain,
    ],
    [
      { name: file?.name?.slice(1).toUpperCase() },
      (one) => says(one.file?.name, file?.name?.slice(1).toLowerCase() as string),
    ],
    [{ description: file?.description }, (one) => one.file?.description === file?.description],
    [{ owners: [owner] }, (one) => one.owner === owner],
    [{ walletAddress: wallet }, (one) => one.wallet === wallet],
    [{ operators }, (one) => one.operators.includes(operator)],
    [{ supportedTrust: ['tee-attestation'] }, (one) => one.file?.trusts.includes('tee-attestation')],
    [{ active: true }, (one) => one.file?.active === true],
    [{ x402support: true }, (one) => one.file?.x402 === true],
    [{ ensContains: endpoint(agent, 'ens') }, contains('ens')],
    [{ didContains: endpoint(agent, 'did') }, contains('did')],
    [{ mcpContains: endpoint(agent, 'mcp') }, contains('mcp')],
    [{ a2aContains: endpoint(agent, 'a2a') }, contains('a2a')],
    [{ webContains: endpoint(agent, 'web') }, contains('web')],
    [{ hasMCP: true }, (one) => endpoint(one, 'mcp')],
    [{ hasA2A: true }, (one) => endpoint(one, 'a2a')],
    [{ hasWeb: true }, (one) => endpoint(one, 'web')],
    [{ hasOASF: true }, (one) => [...declared(one, 'oasf', 'skills'), ...declared(one, 'oasf', 'domains')].length > 0],
    [{ hasEndpoints: true }, (one) => endpoint(one, 'web') || endpoint(one, 'mcp') || endpoint(one, 'a2a')],
    [{ a2aSkills: list('a2a', 'skills') }, has('a2a', 'skills')],
    [{ mcpTools: list('mcp', 'tools') }, has('mcp', 'tools')],
    [{ mcpPrompts: list('mcp', 'prompts') }, has('mcp', 'prompts')],
    [{ mcpResources: list('mcp', 'resources') }, has('mcp', 'resources')],
    [{ oasfSkills: list('oasf', 'skills') }, has('oasf', 'skills')],
    [{ oasfDomains: list('oasf', 'domains') }, has('oasf', 'domains')],
    [{ registeredAtFrom: createdAt, registeredAtTo: createdAt }, (one) => one.createdAt === createdAt],
    [{ updatedAtFrom: moved }, (one) => movedAt(one) >= moved],
    [{ updatedAtTo: moved }, (one) => movedAt(one) <= moved],
    [{ hasMetadataKey: 'category' }, ({ metadata }) => metadata.category],
    [
      { metadataValue: { key: 'category', value: agent.metadata.category } },
      ({ metadata }) => metadata.category === agent.metadata.category,
    ],
    [{ feedback: { hasFeedback: true } }, (one) => standing(one).length > 0],
    [{ feedback: { minCount: 2 } }, (one) => standing(one).length >= 2],
    // It looks for feedback, and so among those that have some.
    [{ feedback: { maxCount: 2 } }, (one) => standing(one).length > 0 && standing(one).length <= 2],
    [{ feedback: { minValue: 30 } }, (one) => standing(one).length > 0 && mean(standing(one)) >= 30],
    [
      { feedback: { tag: 'starred' } },
      (one) => standing(one).some(({ tag1, tag2 }) => [tag1, tag2].includes('starred')),
    ],
    [{ feedback: { fromReviewers: [client] } }, (one) => standing(one).some((given) => given.client === client)],
    [
      { feedback: { endpoint: 'a2a.EXAMPLE' } },
      (one) => standing(one).some((given) => says(given.endpoint, 'a2a.example')),
    ],
    [{ feedback: { hasResponse: true } }, (one) => standing(one).some(({ responses }) => responses.length > 0)],
  ]
}
