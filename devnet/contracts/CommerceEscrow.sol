// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITransferWithAuthorization} from "./Batchers.sol";
import {Deposit, DepositCollector} from "./Deposits.sol";

interface IAllowance {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Where an escrow keeps what it holds for one operator.
contract TokenStore {
    address private immutable ESCROW = msg.sender;

    error NotTheEscrow();

    function send(ITransferWithAuthorization token, address to, uint256 amount) external {
        require(msg.sender == ESCROW, NotTheEscrow());
        token.transfer(to, amount);
    }
}

/// An escrow of commerce-payments 1.1, with its calls, events and names of payments, but without expiries and bounds of
/// fees. What an operator holds for a receiver is captured, in parts perhaps, or goes back; what was captured may be refunded.
contract CommerceEscrow {
    struct PaymentInfo {
        address operator;
        address payer;
        address receiver;
        address token;
        uint120 maxAmount;
        uint48 preApprovalExpiry;
        uint48 authorizationExpiry;
        uint48 refundExpiry;
        uint16 minFeeBps;
        uint16 maxFeeBps;
        address feeReceiver;
        uint256 salt;
    }

    event PaymentAuthorized(
        bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector
    );
    event PaymentCharged(
        bytes32 indexed paymentInfoHash,
        PaymentInfo paymentInfo,
        uint256 amount,
        address tokenCollector,
        uint256 feeAmount,
        address feeReceiver
    );
    event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver);
    event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentRefunded(bytes32 indexed paymentInfoHash, uint256 amount, address tokenCollector);
    event TokenStoreCreated(address indexed operator, address tokenStore);

    error WrongSender();
    error AmountTooHigh();

    bytes32 private constant PAYMENT_INFO_TYPE = keccak256(
        "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)"
    );

    mapping(bytes32 paymentInfoHash => uint256) public capturable;
    mapping(bytes32 paymentInfoHash => uint256) public refundable;
    mapping(address operator => TokenStore) public stores;

    modifier by(address sender) {
        require(msg.sender == sender, WrongSender());
        _;
    }

    function authorize(PaymentInfo calldata info, uint256 amount, address collector, bytes calldata data)
        external
        by(info.operator)
    {
        bytes32 id = getHash(info);
        capturable[id] += amount;
        emit PaymentAuthorized(id, info, amount, collector);
        _collect(info, amount, collector, data);
    }

    function charge(
        PaymentInfo calldata info,
        uint256 amount,
        address collector,
        bytes calldata data,
        uint256 fee,
        address feeReceiver
    ) external by(info.operator) {
        bytes32 id = getHash(info);
        refundable[id] += amount;
        emit PaymentCharged(id, info, amount, collector, fee, feeReceiver);
        _collect(info, amount, collector, data);
        _payOut(info, amount, fee, feeReceiver);
    }

    function capture(PaymentInfo calldata info, uint256 amount, uint256 fee, address feeReceiver)
        external
        by(info.operator)
    {
        bytes32 id = getHash(info);
        require(amount <= capturable[id], AmountTooHigh());
        capturable[id] -= amount;
        refundable[id] += amount;
        emit PaymentCaptured(id, amount, fee, feeReceiver);
        _payOut(info, amount, fee, feeReceiver);
    }

    function void(PaymentInfo calldata info) external by(info.operator) {
        bytes32 id = getHash(info);
        uint256 amount = capturable[id];
        require(amount > 0, AmountTooHigh());
        capturable[id] = 0;
        emit PaymentVoided(id, amount);
        _send(info, info.payer, amount);
    }

    function reclaim(PaymentInfo calldata info) external by(info.payer) {
        bytes32 id = getHash(info);
        uint256 amount = capturable[id];
        require(amount > 0, AmountTooHigh());
        capturable[id] = 0;
        emit PaymentReclaimed(id, amount);
        _send(info, info.payer, amount);
    }

    /// The operator's own money goes back, which it has to allow before.
    function refund(PaymentInfo calldata info, uint256 amount, address collector, bytes calldata)
        external
        by(info.operator)
    {
        bytes32 id = getHash(info);
        require(amount <= refundable[id], AmountTooHigh());
        refundable[id] -= amount;
        emit PaymentRefunded(id, amount, collector);
        IAllowance(info.token).transferFrom(info.operator, address(_storeOf(info.operator)), amount);
        _send(info, info.payer, amount);
    }

    function getHash(PaymentInfo calldata info) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), keccak256(abi.encode(PAYMENT_INFO_TYPE, info))));
    }

    function _collect(PaymentInfo calldata info, uint256 amount, address collector, bytes calldata data) private {
        address store = address(_storeOf(info.operator));
        DepositCollector(collector).collect(abi.decode(data, (Deposit)), store, amount);
    }

    function _payOut(PaymentInfo calldata info, uint256 amount, uint256 fee, address feeReceiver) private {
        if (fee > 0) _send(info, feeReceiver, fee);
        if (amount > fee) _send(info, info.receiver, amount - fee);
    }

    function _send(PaymentInfo calldata info, address to, uint256 amount) private {
        _storeOf(info.operator).send(ITransferWithAuthorization(info.token), to, amount);
    }

    function _storeOf(address operator) private returns (TokenStore store) {
        store = stores[operator];
        if (address(store) == address(0)) {
            store = new TokenStore();
            stores[operator] = store;
            emit TokenStoreCreated(operator, address(store));
        }
    }
}
