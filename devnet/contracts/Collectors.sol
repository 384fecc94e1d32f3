// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITransferWithAuthorization} from "./Batchers.sol";

/// Draws an authorized payment to itself and passes it on in the same call.
contract Puller {
    function pull(
        ITransferWithAuthorization token,
        address from,
        uint256 value,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature,
        address merchant
    ) external {
        token.receiveWithAuthorization(from, address(this), value, 0, validBefore, nonce, signature);
        token.transfer(merchant, value);
    }
}

/// Keeps authorized payments until somebody releases them to the merchant, in a later transaction.
contract Escrow {
    error NothingHeld();

    mapping(ITransferWithAuthorization token => mapping(address merchant => uint256 value)) public held;

    function deposit(
        ITransferWithAuthorization token,
        address from,
        uint256 value,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature,
        address merchant
    ) external {
        token.receiveWithAuthorization(from, address(this), value, 0, validBefore, nonce, signature);
        held[token][merchant] += value;
    }

    function release(ITransferWithAuthorization token, address merchant) external {
        uint256 value = held[token][merchant];
        require(value > 0, NothingHeld());
        held[token][merchant] = 0;
        token.transfer(merchant, value);
    }
}
