// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// The shape of Multicall3: calls that stand in the calldata, each allowed to fail or not.
contract Multicall {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }
    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed(uint256 index);

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure, CallFailed(i));
            returnData[i] = Result(success, data);
        }
    }

    receive() external payable {}
}

interface ITransferWithAuthorization {
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;

    function transfer(address to, uint256 value) external returns (bool);
}

/// Builds the token's calls itself: the calldata holds the authorizations column by column, so no selector of the
/// token stands in it.
contract ColumnBatcher {
    struct Columns {
        address[] from;
        address[] to;
        uint256[] value;
        bytes32[] nonce;
        uint8[] v;
        bytes32[] r;
        bytes32[] s;
    }

    function payAll(ITransferWithAuthorization token, uint256 validBefore, Columns calldata c) external {
        for (uint256 i = 0; i < c.from.length; i++) {
            token.transferWithAuthorization(
                c.from[i],
                c.to[i],
                c.value[i],
                0,
                validBefore,
                c.nonce[i],
                c.v[i],
                c.r[i],
                c.s[i]
            );
        }
    }
}

/// Hands its calldata to the token as it is: selector and arguments stand where a direct call has them.
contract Forwarder {
    /// Slot 0: set where the code is placed.
    address private _token;

    fallback() external {
        (bool success, bytes memory data) = _token.call(msg.data);
        assembly ("memory-safe") {
            if iszero(success) {
                revert(add(data, 32), mload(data))
            }
            return(add(data, 32), mload(data))
        }
    }
}
