/**
 * Messages of mainnet as hubs show them, and what their addresses signed. Recorded from public hubs and public programs
 * between 2024 and 2026; `farcaster-attestation` published the first.
 */
export const first = {
  data: {
    type: 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS',
    fid: 328679,
    timestamp: 100412508,
    network: 'FARCASTER_NETWORK_MAINNET',
    verificationAddAddressBody: {
      address: '0xf01dd015bc442d872275a79b9cae84a6ff9b2a27',
      claimSignature: 'IsbQTvpf5U1v31NcLHuJS6UeThEQLx1cyVVr5lZ0w7UN2TDKzVdyx6qpKdjwnTmjJ/xfG6s0oNbcNB2PlG+FFhw=',
      blockHash: '0x39dfd535c2173c551c4ed55dbb2d52a07951cd68852547509ce066720d251473',
      verificationType: 0,
      chainId: 0,
      protocol: 'PROTOCOL_ETHEREUM',
    },
  },
  hash: '0x4576a545b9ddda33e3629e84ae86f8b904c106d5',
  hashScheme: 'HASH_SCHEME_BLAKE3',
  signature: 'j2EmRG5mjZNzXgFfdNphfR+6/9FHHDzV9ZFGLTVuOJBrgK/fWt7L6dyMdCOyqig6M3LbHCXDPTL+McDFQcOGDA==',
  signatureScheme: 'SIGNATURE_SCHEME_ED25519',
  signer: '0xbb77ee11e6651a87e4537d80eca20ee9036b0260eb77150065b2c02148f9603a',
}

export const firstBytes =
  '080710e7871418dcd8f02f20014a7b0a14f01dd015bc442d872275a79b9cae84a6ff9b2a27124122c6d04efa5fe54d6fdf535c2c7b894ba51e4e11102f1d5cc9556be65674c3b50dd930cacd5772c7aaa929d8f09d39a327fc5f1bab34a0d6dc341d8f946f85161c1a2039dfd535c2173c551c4ed55dbb2d52a07951cd68852547509ce066720d251473'
export const firstDigest = '0xafbb3944a059d3a5806ae751867ea7f2ec0edc229257c1692a75ab8d7e7e48f9'

/** In the form of Snapchain's API. */
export const second = {
  data: {
    type: 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS',
    fid: 328679,
    timestamp: 110966760,
    network: 'FARCASTER_NETWORK_MAINNET',
    verificationAddAddressBody: {
      address: '0x5f4bcccb5c2cbb01c619f5cfed555466e31679b6',
      claimSignature: 'd5QNIGmRKARAiG8p8PdQL56rWJoQyCWmtavzcFUG9R5vL4yv3ji0auT8KZb3gPD76v7Q4hXQo3Ee6NGnf8kfdRw=',
      blockHash: '0xb5af0f1626171b2624b93eb2e9192e88dba950dc8d3881a62e514b239fa12bb4',
      type: 0,
      chainId: 0,
      protocol: 'PROTOCOL_ETHEREUM',
    },
  },
  hash: '0x75c483fa367ba1e53adbd9cec101d204560bb019',
  hashScheme: 'HASH_SCHEME_BLAKE3',
  signature: 'oLV+KYAcrN3ymsfNRQ62NIbKswT1Dq9F+wCzsbmxTb9KD7FOGBbbch2OJrgGl/Es/83AzHp2O/VWUC1vtOz2Dg==',
  signatureScheme: 'SIGNATURE_SCHEME_ED25519',
  signer: first.signer,
}
export const secondDigest = '0x91336b2b94abadd493dd2f7cf24252c7f800577e06843cfc9c82a5389e2eff6d'

/** A reaction, from a page of events. */
export const reaction = {
  data: {
    type: 'MESSAGE_TYPE_REACTION_ADD',
    fid: 310826,
    timestamp: 142732800,
    network: 'FARCASTER_NETWORK_MAINNET',
    reactionBody: {
      type: 'REACTION_TYPE_LIKE',
      targetCastId: { fid: 1026688, hash: '0xa1162b5d59281733daee1bcd3b810c5259f66ee1' },
    },
  },
  hash: '0xfd4e55bb235fec5cad679182a2c926948d95b7cb',
  signature: '3N0jZHh46/gXa6uZS+jCbw/9eiOti3MyHNODn7cw5xqo7DBa45rixbzG2QNJtnDmF5XJb+q4GNv/eZF+19qQBw==',
  signer: '0x217a69e523fbcc51643021d78f9a0fc98ac4e56c7418a2825f0870c81a5d18aa',
}
export const reactionBytes =
  '080310aafc121880dc874420013a1e0801121a0880d53e1214a1162b5d59281733daee1bcd3b810c5259f66ee1'

/** The oldest form of a verification; of its message only the hash is recorded whole. */
export const oldest = {
  fid: 2,
  timestamp: 73244540,
  address: '0x91031dcfdea024b4d51e775486111d2b2a715871',
  blockHash: '0xd74860c4bbf574d5ad60f03a478a30f990e05ac723e138a5c860cdb3095f4296',
  signature: 'tyxj1h8HWzb7ZqmoZ7UINs7xnWU6PAkAVihzhne8sl8ltrbm0uHWnNclMns8Ag3u+eJXWiLcjtCPiLx1cYzhyxw=',
  hash: '0xa505331746ec8c5110a94bdb098cd964e43a8f2b',
}

/** A claim whose signature ends in v = 0. */
export const zeroV = {
  fid: 200739,
  address: '0x5eed8e690f36824f963498024249028d66961c0a',
  blockHash: '0x49d78d07b9e1caaf000da24b55efa6d293a128679fe070d527e5c45a862da9f9',
  signature:
    '0xeaaa2438c2395a70415e520a5b3f94009ca691862e6c906b0b6d5170f1a148c8329aad093bd330e809089a3d4ca2678d817901be8031e3ba72ef19f9e809cf2700',
  digest: '0xe0c563e269667836720918fadc5b6295f7fc85d40dae4ae106e6e5b9ad534525',
}
