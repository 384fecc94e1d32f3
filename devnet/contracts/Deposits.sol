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

/// Channels of a payer and a receiver each: a deposit is nobody's yet, a claim moves no token, and a settlement pays
/// out what was claimed.
contract PaymentChannels {
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);

    error BalanceTooLow();

    mapping(bytes32 channelId => uint128) public balance;
    mapping(bytes32 channelId => uint128) public claimed;
    mapping(ITransferWithAuthorization token => mapping(address receiver => uint128)) public due;

    function deposit(DepositCollector collector, Deposit calldata one, address receiver) external {
        bytes32 channelId = keccak256(abi.encode(one.token, one.from, receiver));
        collector.collect(one, address(this), one.value);
        balance[channelId] += uint128(one.value);
        emit Deposited(channelId, msg.sender, uint128(one.value), balance[channelId]);
    }

    function claim(ITransferWithAuthorization token, address payer, address receiver, uint128 amount) external {
        bytes32 channelId = keccak256(abi.encode(token, payer, receiver));
        claimed[channelId] += amount;
        require(claimed[channelId] <= balance[channelId], BalanceTooLow());
        due[token][receiver] += amount;
        emit Claimed(channelId, msg.sender, amount, claimed[channelId]);
    }

    function settle(address receiver, ITransferWithAuthorization token) external {
        uint128 amount = due[token][receiver];
        due[token][receiver] = 0;
        token.transfer(receiver, amount);
        emit Settled(receiver, address(token), msg.sender, amount);
    }
}
