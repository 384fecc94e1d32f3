// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITransferWithAuthorization} from "./Batchers.sol";

/// An authorized deposit, as a payer signed it.
struct Deposit {
    ITransferWithAuthorization token;
    address from;
    uint256 value;
    uint256 validBefore;
    bytes32 nonce;
    bytes signature;
}

/// Draws a deposit for whoever calls it: what is kept goes on to the store, the rest back to the payer.
contract DepositCollector {
    function collect(Deposit calldata one, address store, uint256 kept) external {
        one.token.receiveWithAuthorization(
            one.from, address(this), one.value, 0, one.validBefore, one.nonce, one.signature
        );
        if (one.value > kept) one.token.transfer(one.from, one.value - kept);
        one.token.transfer(store, kept);
    }
}
