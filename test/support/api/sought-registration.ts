import { createPublicClient, createWalletClient, defineChain, type Hex, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Call } from '../../../devnet/chain/chain.ts'
import { appendResponse, giveFeedback, register, setOperator } from '../../../devnet/chain/identity.ts'
import type { Devnet } from '../devnet.ts'

const file = {
  type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
  name: 'Sought by every filter',
  description: 'Is found by every filter of the SDK.',
  active: true,
  x402Support: true,
  supportedTrust: ['reputation', 'tee-attestation'],
  services: [
    { name: 'web', endpoint: 'https://sought.example/' },
    { name: 'A2A', endpoint: 'https://a2a.sought.example/', a2aSkills: ['sum'] },
    {
      name: 'MCP',
      endpoint: 'https://mcp.sought.example/',
      mcpTools: ['ask'],
      mcpPrompts: ['greet'],
      mcpResources: ['file://x'],
    },
    { name: 'OASF', endpoint: 'https://oasf.sought.example/', skills: ['nlp/summarization'], domains: ['law'] },
    { name: 'ENS', endpoint: 'sought.eth' },
    { name: 'DID', endpoint: 'did:web:sought.example' },
  ],
}

/** Registers an agent on a chain of a local world that every filter of agent0-sdk can find. Returns who gave it feedback. */
export async function registerSought(
  { chains, funder_private_key }: Devnet,
  name: string,
): Promise<{ uri: string; client: Hex }> {
  const { rpc, chain_id, registry } = chains[name] as Devnet['chains'][string]
  const nativeCurrency = { name: 'coin', symbol: 'COIN', decimals: 18 }
  const chain = defineChain({ id: chain_id, name, nativeCurrency, rpcUrls: { default: { http: [rpc] } } })
  const reader = createPublicClient({ chain, transport: http(rpc), pollingInterval: 100 })
  const send = async (key: Hex, call: Call | { to: Hex; value: bigint }) => {
    const account = privateKeyToAccount(key)
    const hash = await createWalletClient({ account, chain, transport: http(rpc) }).sendTransaction(call)
    return reader.waitForTransactionReceipt({ hash })
  }
  const ours = funder_private_key
  const client = generatePrivateKey()
  const address = privateKeyToAccount(client).address
  const uri = `data:application/json;base64,${Buffer.from(JSON.stringify(file)).toString('base64')}`
  const metadata = [{ key: 'category', value: `0x${Buffer.from('sought').toString('hex')}` }] as const
  const { logs } = await send(ours, register(uri, metadata))
  const minted = logs.find((log) => log.address.toLowerCase() === registry && log.topics.length === 4)
  const agentId = BigInt(minted?.topics[3] as Hex)
  await send(ours, setOperator(privateKeyToAccount(generatePrivateKey()).address, true))
  await send(ours, { to: address, value: parseEther('1') })
  const rating = { agentId, value: 80n, tag1: 'starred', endpoint: 'https://a2a.example/' }
  await send(client, giveFeedback(rating))
  await send(client, giveFeedback({ ...rating, value: 90n, tag1: 'uptime' }))
  await send(ours, appendResponse(agentId, address, 1n, 'https://answers.example/1'))
  return { uri, client: address.toLowerCase() as Hex }
}
