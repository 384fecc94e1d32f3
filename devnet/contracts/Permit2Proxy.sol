// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

struct TokenPermissions {
    IERC20 token;
    uint256 amount;
}

struct Permit {
    TokenPermissions permitted;
    uint256 nonce;
    uint256 deadline;
}

/// What brings the allowance of EIP-2612 along.
struct AllowancePermit {
    uint256 value;
    uint256 deadline;
    bytes32 r;
    bytes32 s;
    uint8 v;
}

/// Pays as x402's proxies for Permit2 do: the token's Transfer, then a log without arguments. The owner's word is the
/// allowance that it gave to this contract, not the signature; a nonce pays once.
abstract contract PayingProxy {
    event Settled();
    event SettledWithPermit();

    error InvalidAmount();
    error InvalidNonce();

    mapping(address owner => mapping(uint256 nonce => bool)) public used;

    function _pay(Permit calldata permit, uint256 amount, address owner, address to) internal {
        require(amount > 0, InvalidAmount());
        require(!used[owner][permit.nonce], InvalidNonce());
        used[owner][permit.nonce] = true;
        permit.permitted.token.transferFrom(owner, to, amount);
    }
}

/// For a fixed price.
contract Permit2Proxy is PayingProxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    function settle(Permit calldata permit, address owner, Witness calldata witness, bytes calldata) external {
        _pay(permit, permit.permitted.amount, owner, witness.to);
        emit Settled();
    }

    function settleWithPermit(
        AllowancePermit calldata,
        Permit calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata
    ) external {
        _pay(permit, permit.permitted.amount, owner, witness.to);
        emit SettledWithPermit();
    }
}

/// For a price that is known afterwards: the owner's word is the most, and who may settle; what was used is paid.
contract UptoPermit2Proxy is PayingProxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    function settle(
        Permit calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata
    ) external {
        require(msg.sender == witness.facilitator, UnauthorizedFacilitator());
        require(amount <= permit.permitted.amount, AmountExceedsPermitted());
        _pay(permit, amount, owner, witness.to);
        emit Settled();
    }
}
