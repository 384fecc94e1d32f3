// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A wallet with one key: ERC-1271 signatures are the key's signature over the very hash.
contract ContractWallet is IERC1271, IERC721Receiver {
    error NotOwner();

    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory) {
        require(msg.sender == owner, NotOwner());
        (bool success, bytes memory result) = target.call{value: value}(data);
        if (success) return result;
        assembly ("memory-safe") {
            revert(add(result, 32), mload(result))
        }
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(hash, signature);
        bool valid = problem == ECDSA.RecoverError.NoError && signer == owner;
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return IERC721Receiver.onERC721Received.selector;
    }

    receive() external payable {}
}

/// Puts wallets at addresses known before they exist.
contract WalletFactory {
    function create(address owner, bytes32 salt) external returns (ContractWallet) {
        return new ContractWallet{salt: salt}(owner);
    }

    function walletOf(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
