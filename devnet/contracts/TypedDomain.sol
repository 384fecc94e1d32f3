// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// EIP-712 domain computed anew on every use: the code keeps no immutables, so it works at whatever address and on
/// whatever chain it is placed, behind a proxy too.
abstract contract TypedDomain {
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    function _domain() internal pure virtual returns (string memory name, string memory version);

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        return MessageHashUtils.toTypedDataHash(_domainSeparator(), structHash);
    }

    function _domainSeparator() internal view returns (bytes32) {
        (string memory name, string memory version) = _domain();
        return
            keccak256(
                abi.encode(DOMAIN_TYPE, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
            );
    }
}
