// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITransferWithAuthorization} from "./Batchers.sol";
import {Deposit, DepositCollector} from "./Deposits.sol";
import {TypedDomain} from "./TypedDomain.sol";

/// Channels of x402's batch-settlement, with its calls, events and names of channels, but no signatures of vouchers and
/// no delay of withdrawals. A deposit is nobody's yet, a claim moves no token, and a settlement pays out what was claimed.
contract PaymentChannels is TypedDomain {
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error BalanceTooLow();
    error CallFailed();

    bytes32 private constant CHANNEL_TYPE = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );

    mapping(bytes32 channelId => uint128) public balance;
    mapping(bytes32 channelId => uint128) public claimed;
    mapping(address token => mapping(address receiver => uint128)) public due;

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata collectorData)
        external
    {
        bytes32 channelId = getChannelId(config);
        balance[channelId] += amount;
        DepositCollector(collector).collect(abi.decode(collectorData, (Deposit)), address(this), amount);
        if (balance[channelId] == amount && claimed[channelId] == 0) emit ChannelCreated(channelId, config);
        emit Deposited(channelId, msg.sender, amount, balance[channelId]);
    }

    function claim(VoucherClaim[] calldata claims) external {
        for (uint256 i = 0; i < claims.length; ++i) {
            ChannelConfig calldata config = claims[i].voucher.channel;
            bytes32 channelId = getChannelId(config);
            if (claims[i].totalClaimed <= claimed[channelId]) continue;
            require(claims[i].totalClaimed <= balance[channelId], BalanceTooLow());
            uint128 more = claims[i].totalClaimed - claimed[channelId];
            claimed[channelId] = claims[i].totalClaimed;
            due[config.token][config.receiver] += more;
            emit Claimed(channelId, msg.sender, more, claims[i].totalClaimed);
        }
    }

    function settle(address receiver, address token) external {
        uint128 amount = due[token][receiver];
        if (amount == 0) return;
        due[token][receiver] = 0;
        ITransferWithAuthorization(token).transfer(receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external {
        bytes32 channelId = getChannelId(config);
        uint128 free = balance[channelId] - claimed[channelId];
        uint128 back = amount > free ? free : amount;
        if (back == 0) return;
        balance[channelId] -= back;
        emit Refunded(channelId, msg.sender, back);
        if (balance[channelId] == 0 && claimed[channelId] == 0) emit ChannelClosed(channelId, config);
        ITransferWithAuthorization(config.token).transfer(config.payer, back);
    }

    /// Withdraws all that is free.
    function finalizeWithdraw(ChannelConfig calldata config) external {
        bytes32 channelId = getChannelId(config);
        uint128 back = balance[channelId] - claimed[channelId];
        balance[channelId] -= back;
        emit WithdrawFinalized(channelId, msg.sender, back);
        if (balance[channelId] == 0 && claimed[channelId] == 0) emit ChannelClosed(channelId, config);
        if (back > 0) ITransferWithAuthorization(config.token).transfer(config.payer, back);
    }

    function multicall(bytes[] calldata data) external {
        for (uint256 i = 0; i < data.length; ++i) {
            (bool success,) = address(this).delegatecall(data[i]);
            require(success, CallFailed());
        }
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(CHANNEL_TYPE, config)));
    }

    function _domain() internal pure override returns (string memory name, string memory version) {
        return ("x402 Batch Settlement", "1");
    }
}
