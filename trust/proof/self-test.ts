import { hexToBytes } from 'viem'
import { checkEnvelope, type Outcome } from '../envelope.ts'
import { mainnet } from '../message-data.ts'
import { isNameProof } from '../name-proof.ts'
import { checkKeyClaim, claimDigest } from '../verification-claim.ts'
import type { CheckLine } from './line.ts'

// Messages recorded from public hubs between 2023 and 2026. Bytes are hex.

const messages = {
  'a verification of 2024': {
    data_bytes:
      '080710e7871418dcd8f02f20014a7b0a14f01dd015bc442d872275a79b9cae84a6ff9b2a27124122c6d04efa5fe54d6fdf535c2c7b894ba51e4e11102f1d5cc9556be65674c3b50dd930cacd5772c7aaa929d8f09d39a327fc5f1bab34a0d6dc341d8f946f85161c1a2039dfd535c2173c551c4ed55dbb2d52a07951cd68852547509ce066720d251473',
    hash: '4576a545b9ddda33e3629e84ae86f8b904c106d5',
    signature:
      '8f6126446e668d93735e015f74da617d1fbaffd1471c3cd5f591462d356e38906b80afdf5adecbe9dc8c7423b2aa283a3372db1c25c33d32fe31c0c541c3860c',
    signer: 'bb77ee11e6651a87e4537d80eca20ee9036b0260eb77150065b2c02148f9603a',
  },
  'a verification of today’s hubs': {
    data_bytes:
      '080710e7871418e8eff43420014a7b0a145f4bcccb5c2cbb01c619f5cfed555466e31679b6124177940d206991280440886f29f0f7502f9eab589a10c825a6b5abf3705506f51e6f2f8cafde38b46ae4fc2996f780f0fbeafed0e215d0a3711ee8d1a77fc91f751c1a20b5af0f1626171b2624b93eb2e9192e88dba950dc8d3881a62e514b239fa12bb4',
    hash: '75c483fa367ba1e53adbd9cec101d204560bb019',
    signature:
      'a0b57e29801cacddf29ac7cd450eb63486cab304f50eaf45fb00b3b1b9b14dbf4a0fb14e1816db721d8e26b80697f12cffcdc0cc7a763bf556502d6fb4ecf60e',
    signer: 'bb77ee11e6651a87e4537d80eca20ee9036b0260eb77150065b2c02148f9603a',
  },
  'a reaction': {
    data_bytes: '080310aafc121880dc874420013a1e0801121a0880d53e1214a1162b5d59281733daee1bcd3b810c5259f66ee1',
    hash: 'fd4e55bb235fec5cad679182a2c926948d95b7cb',
    signature:
      'dcdd23647878ebf8176bab994be8c26f0ffd7a23ad8b73321cd3839fb730e71aa8ec305ae39ae2c5bcc6d90349b670e61795c96feab818dbff79917ed7da9007',
    signer: '217a69e523fbcc51643021d78f9a0fc98ac4e56c7418a2825f0870c81a5d18aa',
  },
} as const

const claims = {
  'an address of 2024': {
    fid: 328679,
    address: '0xf01dd015bc442d872275a79b9cae84a6ff9b2a27',
    block_hash: '0x39dfd535c2173c551c4ed55dbb2d52a07951cd68852547509ce066720d251473',
    signature:
      '0x22c6d04efa5fe54d6fdf535c2c7b894ba51e4e11102f1d5cc9556be65674c3b50dd930cacd5772c7aaa929d8f09d39a327fc5f1bab34a0d6dc341d8f946f85161c',
    digest: '0xafbb3944a059d3a5806ae751867ea7f2ec0edc229257c1692a75ab8d7e7e48f9',
  },
  'an address of today’s hubs': {
    fid: 328679,
    address: '0x5f4bcccb5c2cbb01c619f5cfed555466e31679b6',
    block_hash: '0xb5af0f1626171b2624b93eb2e9192e88dba950dc8d3881a62e514b239fa12bb4',
    signature:
      '0x77940d206991280440886f29f0f7502f9eab589a10c825a6b5abf3705506f51e6f2f8cafde38b46ae4fc2996f780f0fbeafed0e215d0a3711ee8d1a77fc91f751c',
    digest: '0x91336b2b94abadd493dd2f7cf24252c7f800577e06843cfc9c82a5389e2eff6d',
  },
  'an address of before the key registry': {
    fid: 2,
    address: '0x91031dcfdea024b4d51e775486111d2b2a715871',
    block_hash: '0xd74860c4bbf574d5ad60f03a478a30f990e05ac723e138a5c860cdb3095f4296',
    signature:
      '0xb72c63d61f075b36fb66a9a867b50836cef19d653a3c09005628738677bcb25f25b6b6e6d2e1d69cd725327b3c020deef9e2575a22dc8ed08f88bc75718ce1cb1c',
    digest: '0x44a4fa4bd56921a9e12e537e9f4f54fa3ab0d24094d584bf624b426ada1d6eb0',
  },
  'a signature that ends in 0': {
    fid: 200739,
    address: '0x5eed8e690f36824f963498024249028d66961c0a',
    block_hash: '0x49d78d07b9e1caaf000da24b55efa6d293a128679fe070d527e5c45a862da9f9',
    signature:
      '0xeaaa2438c2395a70415e520a5b3f94009ca691862e6c906b0b6d5170f1a148c8329aad093bd330e809089a3d4ca2678d817901be8031e3ba72ef19f9e809cf2700',
    digest: '0xe0c563e269667836720918fadc5b6295f7fc85d40dae4ae106e6e5b9ad534525',
  },
} as const

const name = {
  name: 'farcaster',
  timestamp: 1_628_882_891,
  owner: '0x8773442740c17c9d0f0b87022c722f9a136206ed',
  signature:
    '0xb7181760f14eda0028e0b647ff15f45235526ced3b4ae07fcce06141b73d32960d3253776e62f761363fb8137087192047763f4af838950a96f3885f3c2289c41b',
} as const

/** A key of small order, under which a signature is valid for any message. */
const identity = `01${'00'.repeat(31)}`

/**
 * Runs the checks on recorded messages that are known to hold, and on each of them with one thing changed, which must
 * not hold. A line has `held` when the result is as expected. Works offline.
 */
export async function selfTest(): Promise<CheckLine[]> {
  const lines: CheckLine[] = []
  const expect = (name: string, is: Outcome | boolean, expected: Outcome | boolean) =>
    lines.push({ name, outcome: is === expected ? 'held' : 'failed' })
  for (const [what, { data_bytes, hash, signature, signer }] of Object.entries(messages)) {
    const envelope = (changed: Partial<Record<'data_bytes' | 'hash' | 'signature' | 'signer', string>> = {}) => {
      const given = { data_bytes, hash, signature, signer, ...changed }
      return checkEnvelope({
        dataBytes: bytes(given.data_bytes),
        hash: bytes(given.hash),
        signature: bytes(given.signature),
        signer: bytes(given.signer),
      })
    }
    expect(`${what} is signed by its key`, envelope(), 'held')
    expect(`${what}, a bit of it changed, has another hash`, envelope({ data_bytes: flipped(data_bytes) }), 'unknown')
    expect(
      `${what}, a bit of its signature changed, is not signed`,
      envelope({ signature: flipped(signature) }),
      'failed',
    )
    expect(`${what} is not signed by a key of small order`, envelope({ signer: identity }), 'failed')
  }
  for (const [what, { fid, digest, ...claim }] of Object.entries(claims)) {
    const add = {
      address: hexToBytes(claim.address),
      blockHash: hexToBytes(claim.block_hash),
      claimSignature: hexToBytes(claim.signature),
      verificationType: 0,
      chainId: 0,
      protocol: 0,
    }
    expect(`${what} signed for its FID`, await checkKeyClaim(fid, add, mainnet), 'held')
    expect(`${what}: the digest`, claimDigest(fid, add, mainnet) === digest, true)
    expect(`${what} signed for no other FID`, await checkKeyClaim(fid + 1, add, mainnet), 'failed')
    const zero = claimDigest(fid, { ...add, verificationType: 1 }, mainnet)
    expect(`${what}: a chain id of 0 in the domain is another digest`, zero === digest, false)
  }
  expect('the owner of a name', await isNameProof(name), true)
  expect('the owner of another name', await isNameProof({ ...name, name: 'farcasters' }), false)
  return lines
}

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const flipped = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
